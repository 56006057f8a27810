/** A ChatGPT login through the real routes: stored, lent to one spawn, given back by the runner, and never shown. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';
import { chatGptLogin } from '../support/codex-login.ts';
import { type Fleet, openFleet } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
let id: string;
const old = chatGptLogin({ expiresInS: 60, refreshedAt: '2026-01-01T00:00:00Z' });
beforeEach(async () => {
  fleet = await openFleet();
  // A plan is lent to agents of its owner alone.
  const owner = await fleet.deps.store.read('user_by_name', { username: 'admin' });
  await fleet.agent('coder', { adapter: 'codex', command: null, owner_id: owner!.id });
  const made = await fleet.api('POST', '/api/subscriptions', { name: 'plan', kind: 'codex_login', token: old.file });
  expect(made.status, made.text).toBe(201);
  id = made.body.id;
});
afterEach(() => fleet.end());

const claim = async (): Promise<ClaimedWork> => {
  await fleet.api('POST', '/api/agents/coder/task', { message: 'x', async_mode: true });
  const [work] = await fleet.runner.claim(1);
  return work!;
};
const give = async (work: ClaimedWork, login: string, token = work.token) =>
  (await fleet.runner.request(`/attempts/${work.attempt}/login`, { token, login })).body.result;

it(verifies('R38', 'R29')('is lent whole, apart from the environment, and only to Codex'), async () => {
  const work = await claim();
  expect(work.credential).toEqual({ id, kind: 'codex_login', env: {}, login: old.file });
  await fleet.agent('writer', { adapter: 'gemini', command: null });
  await fleet.api('POST', '/api/agents/writer/task', { message: 'x', async_mode: true });
  expect((await fleet.runner.claim(1))[0]!.credential).toBeNull();
});

it(verifies('R38')('is replaced by what its CLI made of it, and the next run is lent that'), async () => {
  const work = await claim();
  const fresh = chatGptLogin({ expiresInS: 60, refreshedAt: '2026-02-01T00:00:00.123456789Z' });
  expect(await give(work, fresh.file)).toBe('kept');
  expect(await give(work, fresh.file)).toBe('older');
  expect(await give(work, old.file)).toBe('older');
  await fleet.runner.begin(work);
  await fleet.runner.finish(work);
  // Facts settled before the login came, as after a restart of the runner: it counts all the same.
  const newest = chatGptLogin({ expiresInS: 60, refreshedAt: '2026-03-01T00:00:00Z' });
  expect(await give(work, newest.file)).toBe('kept');
  expect((await claim()).credential!.login).toBe(newest.file);
});

it('is taken from nobody but an attempt that was lent it, and never of another account', async () => {
  const work = await claim();
  const fresh = chatGptLogin({ expiresInS: 60, refreshedAt: '2026-02-01T00:00:00Z' }).file;
  const theirs = chatGptLogin({ expiresInS: 60, refreshedAt: '2026-02-01T00:00:00Z', account: 'acct-2' }).file;
  expect(await give(work, fresh, 'not the token')).toBe('lost');
  expect(await give({ ...work, attempt: 'no-such-attempt' }, fresh)).toBe('lost');
  expect(await give(work, theirs)).toBe('foreign');
  const bad = await fleet.runner.request(`/attempts/${work.attempt}/login`, { token: work.token, login: '{}' });
  expect([bad.status, bad.body.error.code]).toEqual([422, 'invalid']);
  await fleet.api('DELETE', `/api/subscriptions/${id}`);
  expect(await give(work, fresh)).toBe('lost');
});

it(verifies('R45')('is shown by no answer, no event and no audit, nor is the one that came after it'), async () => {
  const work = await claim();
  const fresh = chatGptLogin({ expiresInS: 60, refreshedAt: '2026-02-01T00:00:00Z' });
  await give(work, fresh.file);
  const shown = [];
  for (const path of ['/api/subscriptions', '/api/audit', '/api/executions', '/api/agents/coder'])
    shown.push((await fleet.api('GET', path)).text);
  shown.push(JSON.stringify(await fleet.deps.store.read('events_after', { after: 0, limit: 1000 })));
  for (const secret of [old.refresh, old.access, fresh.refresh, fresh.access])
    expect(shown.join('\n')).not.toContain(secret);
});

it('has to be the file of a login, and says which one when it is not', async () => {
  for (const [token, word] of [
    ['sk-proj-something', 'looks like openai_api_key'],
    ['{"OPENAI_API_KEY":"sk-x","tokens":null}', '~/.codex/auth.json'],
    ['{"tokens":{"access_token":"a"}}', '~/.codex/auth.json'],
  ] as const) {
    const made = await fleet.api('POST', '/api/subscriptions', { name: 'other', kind: 'codex_login', token });
    expect(made.status).toBe(422);
    expect(made.body.detail).toContain(word);
  }
});
