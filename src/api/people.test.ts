/** People and their keys: the first password, signing in and out, whose rights a key gives, and what the audit keeps of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, openFleet } from '../../test/support/fleet.ts';
import { as, bare, form } from '../../test/support/stranger.ts';
import { verifies } from '../../test/support/verifies.ts';
import { executionBearer } from '../contract/principal.ts';
import { commit } from '../record/commit.ts';
import { hashToken } from './secrets.ts';

const password = 'correct horse';

const setUp = (fleet: Fleet) =>
  bare(fleet, 'POST', '/api/setup/admin-password', {
    payload: { password, confirm_password: password, setup_token: fleet.owner },
  });
const signIn = async (fleet: Fleet): Promise<string> =>
  (await form(fleet, `username=admin&password=${encodeURIComponent(password)}`)).json().access_token;

// One after the other on one installation: the last two complete it.
describe('set-up', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await openFleet();
  });
  afterAll(() => fleet.end());
  const ask = (body: object, headers: Record<string, string> = {}) =>
    bare(fleet, 'POST', '/api/setup/admin-password', { payload: body, headers });

  it(verifies('R44')('needs the token of the owner’s file, and names the file'), async () => {
    for (const setup_token of [undefined, '', 'wrong', 'drover_wrong']) {
      const answer = await ask({ password, confirm_password: password, setup_token });
      expect(answer.statusCode).toBe(403);
      expect(answer.json().detail).toContain('owner.token');
    }
    expect((await bare(fleet, 'GET', '/api/setup/status')).json()).toMatchObject({ setup_completed: false });
  });

  it('names what is wrong with a password', async () => {
    const setup_token = fleet.owner;
    const short = await ask({ password: 'short', confirm_password: 'short', setup_token });
    expect([short.statusCode, short.json().detail]).toEqual([400, expect.stringContaining('8 characters')]);
    const other = await ask({ password, confirm_password: `${password}!`, setup_token });
    expect([other.statusCode, other.json().detail]).toEqual([400, expect.stringContaining('match')]);
    expect((await ask({ password })).statusCode).toBe(422);
  });

  it('refuses every sign-in before it, with exactly setup_required', async () => {
    const answer = await form(fleet, 'username=admin&password=whatever');
    expect([answer.statusCode, answer.json().detail]).toEqual([403, 'setup_required']);
  });

  it('lets one of two at the same time win, and is refused from then on, with the token too', async () => {
    const header = { 'x-setup-token': fleet.owner };
    const both = await Promise.all([setUp(fleet), ask({ password, confirm_password: password }, header)]);
    expect(both.map((a) => a.statusCode).sort()).toEqual([200, 403]);
    const again = await setUp(fleet);
    expect([again.statusCode, again.json().detail]).toEqual([403, expect.stringContaining('already completed')]);
    expect((await bare(fleet, 'GET', '/api/setup/status')).json()).toEqual({ setup_completed: true });
  });
});

it('takes no token when DROVER_OPEN_SETUP=1', async () => {
  const fleet = await openFleet({ DROVER_OPEN_SETUP: '1' });
  const answer = await bare(fleet, 'POST', '/api/setup/admin-password', {
    payload: { password, confirm_password: password },
  });
  expect(answer.statusCode).toBe(200);
  await fleet.end();
});

describe('signing in', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await openFleet();
    await setUp(fleet);
  });
  afterAll(() => fleet.end());

  it(verifies('R44')('gives a session that every route takes, and stores only its hash'), async () => {
    for (const url of ['/token', '/api/token']) {
      const answer = (
        await form(fleet, `grant_type=password&username=admin&password=${encodeURIComponent(password)}`, {}, url)
      ).json();
      expect(answer).toEqual({ access_token: expect.any(String), token_type: 'bearer' });
      expect((await as(fleet, answer.access_token, 'GET', '/api/users/me')).json()).toEqual({
        username: 'admin',
        email: null,
        role: 'owner',
      });
      expect((await as(fleet, answer.access_token, 'GET', '/api/auth/validate')).json()).toMatchObject({ valid: true });
      const files = readFileSync(join(fleet.deps.config.home, 'drover.db-wal'), 'latin1');
      expect(files).not.toContain(answer.access_token);
      expect(files).not.toContain(password);
    }
  });

  it('refuses a wrong password and an unknown name alike', async () => {
    const wrong = await form(fleet, 'username=admin&password=wrong');
    const nobody = await form(fleet, 'username=nobody&password=wrong');
    expect([wrong.statusCode, nobody.statusCode]).toEqual([401, 401]);
    expect(wrong.json()).toEqual(nobody.json());
    expect((await form(fleet, 'username=admin')).statusCode).toBe(422);
  });

  it('ends a session at logout and after a week', async () => {
    const [one, two] = [await signIn(fleet), await signIn(fleet)];
    expect((await as(fleet, one, 'POST', '/api/logout')).statusCode).toBe(200);
    expect((await as(fleet, one, 'GET', '/api/users/me')).statusCode).toBe(401);
    expect((await as(fleet, two, 'GET', '/api/users/me')).statusCode).toBe(200);
    await fleet.clock.advance(7 * 86_400_000);
    expect((await as(fleet, two, 'GET', '/api/users/me')).statusCode).toBe(401);
  });

  describe('with a cookie', () => {
    const cookieSignIn = async () => {
      const answer = await form(fleet, `username=admin&password=${encodeURIComponent(password)}`, {
        'x-drover-session': 'cookie',
      });
      const set = answer.cookies as { name: string; value: string; httpOnly?: boolean; sameSite?: string }[];
      const cookie = set.map((c) => `${c.name}=${c.value}`).join('; ');
      return { answer, set, cookie, csrf: answer.json().csrf_token as string };
    };

    it('keeps the session away from scripts and from other sites', async () => {
      const { answer, set } = await cookieSignIn();
      expect(answer.json()).not.toHaveProperty('access_token');
      expect(set.find((c) => c.name === 'drover_session')).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    });

    it(verifies('R44')('lets it read, and change only with the token of its own session'), async () => {
      const { cookie, csrf } = await cookieSignIn();
      const other = await cookieSignIn();
      const get = await bare(fleet, 'GET', '/api/users/me', { headers: { cookie } });
      expect(get.json()).toMatchObject({ username: 'admin', csrf_token: expect.any(String) });
      const post = (headers: Record<string, string>) =>
        bare(fleet, 'POST', '/api/fleet/pause', { headers: { cookie, ...headers } });
      for (const headers of [{}, { 'x-csrf-token': 'wrong' }, { 'x-csrf-token': other.csrf }]) {
        const refused = await post(headers as Record<string, string>);
        expect([refused.statusCode, refused.json().error.code]).toEqual([403, 'csrf']);
      }
      expect((await post({ 'x-csrf-token': csrf })).statusCode).toBe(200);
      expect((await post({ 'x-csrf-token': get.json().csrf_token })).statusCode).toBe(200);
    });

    it('is no sign-in beside a bad Authorization header', async () => {
      const { cookie } = await cookieSignIn();
      const headers = { cookie, authorization: 'Bearer drover_wrong' };
      expect((await bare(fleet, 'GET', '/api/users/me', { headers })).statusCode).toBe(401);
    });

    it('ends at logout', async () => {
      const { cookie, csrf } = await cookieSignIn();
      const headers = { cookie, 'x-csrf-token': csrf };
      expect((await bare(fleet, 'POST', '/api/logout', { headers })).statusCode).toBe(200);
      expect((await bare(fleet, 'GET', '/api/users/me', { headers })).statusCode).toBe(401);
    });
  });

  it('ends every other session with a new password', async () => {
    const [here, there] = [await signIn(fleet), await signIn(fleet)];
    const change = (body: object) => as(fleet, here, 'POST', '/api/password', body);
    expect((await change({ current_password: 'wrong', new_password: 'battery staple' })).statusCode).toBe(401);
    expect((await change({ current_password: password, new_password: 'short' })).statusCode).toBe(400);
    const changed = await change({ current_password: password, new_password: 'battery staple' });
    expect(changed.statusCode).toBe(200);
    for (const old of [here, there]) expect((await as(fleet, old, 'GET', '/api/users/me')).statusCode).toBe(401);
    expect((await as(fleet, changed.json().access_token, 'GET', '/api/users/me')).statusCode).toBe(200);
    expect((await form(fleet, 'username=admin&password=battery%20staple')).statusCode).toBe(200);
  });

  it(verifies('R44')('takes a new password without the old one from the owner’s file alone'), async () => {
    const own = await openFleet();
    await setUp(own);
    const session = await signIn(own);
    const fresh = { new_password: 'forgotten no more' };
    const bySession = await as(own, session, 'POST', '/api/password', fresh);
    expect([bySession.statusCode, bySession.json().detail]).toEqual([401, expect.stringContaining('owner.token')]);
    expect((await own.api('POST', '/api/password', fresh)).status).toBe(200);
    expect((await as(own, session, 'GET', '/api/users/me')).statusCode).toBe(401);
    expect((await form(own, 'username=admin&password=forgotten%20no%20more')).statusCode).toBe(200);
    await own.end();
  });

  it('counts failures, not successes, and then makes the address wait, also with the right password', async () => {
    const own = await openFleet();
    await setUp(own);
    const wrong = async () => (await form(own, 'username=admin&password=wrong')).statusCode;
    for (let i = 0; i < 7; i++) expect(await wrong()).toBe(401);
    for (let i = 0; i < 4; i++) expect(await signIn(own)).toBeTruthy();
    for (let i = 0; i < 3; i++) expect(await wrong()).toBe(401);
    const answer = await form(own, `username=admin&password=${encodeURIComponent(password)}`);
    expect([answer.statusCode, answer.json().error.code]).toEqual([429, 'rate_limited']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    await own.end();
  });

  it('counts what is guessed side by side, before the first of them has failed', async () => {
    const own = await openFleet();
    await setUp(own);
    const guesses = Array.from({ length: 30 }, (_, i) => form(own, `username=admin&password=guess${i}`));
    const codes = (await Promise.all(guesses)).map((answer) => answer.statusCode);
    expect(codes.filter((code) => code === 401)).toHaveLength(10);
    expect(codes.filter((code) => code === 429)).toHaveLength(20);
    await own.end();
  });

  it('reads no more of a sign-in or a set-up than a name and a password take', async () => {
    const long = 'x'.repeat(20_000);
    expect((await form(fleet, `username=admin&password=${long}`)).statusCode).toBe(413);
    const payload = { password: long, confirm_password: long };
    expect((await bare(fleet, 'POST', '/api/setup/admin-password', { payload })).statusCode).toBe(413);
  });
});

describe('keys', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await openFleet();
  });
  afterAll(() => fleet.end());
  const make = async (body: object) => (await fleet.api('POST', '/api/mcp/keys', body)).body;

  it(verifies('R44')('are shown once, work at once, and are dead at once when revoked'), async () => {
    const made = await fleet.api('POST', '/api/mcp/keys', { name: 'ci', description: 'for CI' });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      name: 'ci',
      scope: 'user',
      is_active: true,
      key: expect.stringMatching(/^drover_/),
    });
    const { key, id } = made.body;
    expect((await as(fleet, key, 'GET', '/api/agents')).statusCode).toBe(200);
    const list = await fleet.api('GET', '/api/mcp/keys');
    expect(list.body).toMatchObject([{ id, name: 'ci', key_prefix: key.slice(0, 13) }]);
    expect(list.text).not.toContain(key);
    expect((await fleet.api('POST', `/api/mcp/keys/${id}/revoke`)).status).toBe(200);
    expect((await as(fleet, key, 'GET', '/api/agents')).statusCode).toBe(401);
    expect((await fleet.api('GET', '/api/mcp/keys')).body).toMatchObject([{ is_active: false }]);
    expect((await fleet.api('DELETE', `/api/mcp/keys/${id}`)).status).toBe(200);
    expect((await fleet.api('GET', '/api/mcp/keys')).body).toEqual([]);
    expect((await fleet.api('DELETE', `/api/mcp/keys/${id}`)).status).toBe(404);
  });

  it('are made once by ensure-default', async () => {
    const first = (await fleet.api('POST', '/api/mcp/keys/ensure-default')).body;
    expect(first).toMatchObject({ created: true, key: expect.any(String) });
    expect((await fleet.api('POST', '/api/mcp/keys/ensure-default')).body).toMatchObject({ created: false, key: null });
  });

  it('say whose they are', async () => {
    const { key } = await make({ name: 'mine' });
    const valid = { valid: true, key_name: 'mine', scope: 'user', agent_name: null, user_id: expect.any(String) };
    expect((await as(fleet, key, 'POST', '/api/mcp/validate')).json()).toMatchObject(valid);
    expect((await fleet.api('POST', '/api/mcp/validate', { api_key: key })).body).toMatchObject(valid);
    expect((await fleet.api('POST', '/api/mcp/validate', { api_key: 'drover_x' })).status).toBe(401);
  });

  it(verifies('R44')('give an agent an agent’s rights, never its owner’s'), async () => {
    await fleet.api('POST', '/api/agents', { name: 'writer', adapter: 'command', command: ['cat'] });
    const { key, agent_name } = await make({ name: 'of writer', agent_name: 'writer' });
    expect(agent_name).toBe('writer');
    expect((await as(fleet, key, 'GET', '/api/agents')).json()).toMatchObject([{ name: 'writer', is_owner: false }]);
    for (const [method, url] of [
      ['POST', '/api/agents'],
      ['GET', '/api/settings'],
      ['GET', '/api/audit'],
      ['POST', '/api/mcp/keys'],
      ['POST', '/api/fleet/pause'],
      ['GET', '/api/agents/writer/files'],
      ['DELETE', '/api/agents/writer'],
    ] as const)
      expect([url, (await as(fleet, key, method, url, method === 'POST' ? {} : undefined)).statusCode]).toEqual([
        url,
        403,
      ]);
    expect((await as(fleet, key, 'GET', '/api/agents/writer')).json().env).toEqual({});
    await fleet.api('DELETE', '/api/agents/writer');
    expect((await as(fleet, key, 'GET', '/api/agents')).statusCode).toBe(401);
  });

  it('need the name of the agent for scope agent', async () => {
    expect((await fleet.api('POST', '/api/mcp/keys', { name: 'x', scope: 'agent' })).status).toBe(422);
    expect((await fleet.api('POST', '/api/mcp/keys', { name: 'x', agent_name: 'nobody' })).status).toBe(404);
  });

  it('let an execution call with the token of its live attempt, and no longer', async () => {
    await fleet.agent('worker', { owner_id: (await fleet.deps.store.read('users', {}))[0]!.id });
    await fleet.api('POST', '/api/agents/worker/task', { message: 'go', async_mode: true });
    const [work] = await fleet.runner.claim();
    const bearer = executionBearer(work!.execution_id, work!.token);
    expect((await as(fleet, bearer, 'GET', '/api/users/me')).json()).toMatchObject({
      username: 'worker',
      role: 'execution',
    });
    expect((await as(fleet, bearer, 'GET', '/api/settings')).statusCode).toBe(403);
    expect((await as(fleet, executionBearer(work!.execution_id, 'other'), 'GET', '/api/agents')).statusCode).toBe(401);
    await fleet.runner.run(work!);
    await fleet.clock.advance(5_001);
    expect((await as(fleet, bearer, 'GET', '/api/users/me')).statusCode).toBe(401);
  });
});

it(verifies('R44')('holds every change by a person in the audit, and no secret'), async () => {
  const fleet = await openFleet();
  await setUp(fleet);
  await fleet.api('POST', '/api/agents', { name: 'one', adapter: 'command', command: ['cat'] });
  await fleet.api('PUT', '/api/agents/one/capacity', { max_parallel_tasks: 2 });
  await fleet.api('POST', '/api/agents/one/stop');
  await fleet.api('PUT', '/api/fleet/limits', { agent_call_limit: 4 });
  await fleet.api('POST', '/api/fleet/pause');
  await fleet.api('POST', '/api/subscriptions', {
    name: 'key',
    kind: 'anthropic_api_key',
    token: 'sk-ant-very-secret',
  });
  await fleet.api('PUT', '/api/settings/theme', { value: 'dark' });
  await fleet.api('DELETE', '/api/agents/one');
  const { body, text } = await fleet.api('GET', '/api/audit');
  expect(body.map((r: { action: string }) => r.action).reverse()).toEqual([
    'setup.complete',
    'agent.create',
    'agent.change',
    'agent.change',
    'fleet.limits',
    'fleet.pause',
    'credential.put',
    'setting.put',
    'agent.delete',
  ]);
  const owner = (await fleet.deps.store.read('users', {}))[0]!;
  expect(body.every((r: { by: string }) => r.by === `user:${owner.id}`)).toBe(true);
  expect(text).not.toContain('very-secret');
  expect(text).not.toContain(password);
  const page = await fleet.api('GET', `/api/audit?limit=2&before=${body[1].id}`);
  expect(page.body.map((r: { id: string }) => r.id)).toEqual([body[2].id, body[3].id]);
  await fleet.end();
});

it('gives viewers a look and nothing more', async () => {
  const fleet = await openFleet();
  const { ids, clock } = fleet.deps.kernel;
  const user = {
    id: ids.next(clock.now()),
    username: 'vera',
    email: 'v@example.org',
    role: 'viewer' as const,
    password_hash: null,
    created_at: 1,
  };
  await commit(fleet.deps, 'create_user', { user });
  await commit(fleet.deps, 'create_login', {
    login: { hash: hashToken('drs_vera'), user_id: user.id, created_at: 1, expires_at: clock.now() + 1e6 },
  });
  expect((await as(fleet, 'drs_vera', 'GET', '/api/agents')).statusCode).toBe(200);
  expect((await as(fleet, 'drs_vera', 'GET', '/api/users/me')).json()).toEqual({
    username: 'vera',
    email: 'v@example.org',
    role: 'viewer',
  });
  expect((await as(fleet, 'drs_vera', 'POST', '/api/fleet/pause')).statusCode).toBe(403);
  expect((await as(fleet, 'drs_vera', 'GET', '/api/audit')).statusCode).toBe(403);
  await fleet.end();
});
