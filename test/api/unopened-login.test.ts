import { afterEach, expect, it } from 'vitest';
import { sealer } from '../../src/credentials/seal.ts';
import { systemRandom } from '../../src/kernel/ids.ts';
import { commit } from '../../src/record/commit.ts';
import { type Fleet, openFleet } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
afterEach(() => fleet.end());

it(verifies('R38')('a login that does not open ends its own attempt, truthfully, and holds up no other'), async () => {
  fleet = await openFleet();
  const otherKey = sealer(Buffer.alloc(32, 7).toString('base64'), systemRandom);
  const row = {
    max_parallel: null,
    pool: null,
    state: 'ok',
    until: null,
    last_evidence: null,
    last_used_at: null,
    owner_id: null,
    agent_id: null,
    replaced_at: null,
    state_at: null,
    worked_at: null,
    pace: null,
    pace_at: null,
    headroom: null,
  } as const;
  for (const [id, kind, secret] of [
    ['c1', 'claude_oauth', 'sk-ant-oat01-x'],
    ['c2', 'env', 'NAME=value'],
    ['c3', 'anthropic_api_key', 'sk-ant-api03-x'],
  ] as const)
    await commit(fleet.deps, 'put_credential', {
      credential: {
        ...row,
        id,
        name: id === 'c3' ? 'anthropic' : id,
        kind,
        sealed: otherKey.seal(id, secret),
        created_at: 0,
      },
    });
  await fleet.agent('coder', { adapter: 'claude', command: null });
  await fleet.agent('shell');
  const ids: string[] = [];
  for (const agent of ['coder', 'shell']) {
    const answer = await fleet.api('POST', `/api/agents/${agent}/task`, { message: 'x', async_mode: true });
    ids.push(answer.body.execution_id);
  }

  expect((await fleet.runner.claim()).map((w) => w.agent.name)).toEqual(['shell']);
  const ended = await fleet.row(ids[0]!);
  expect(ended).toMatchObject({ status: 'failed', cause: 'auth_missing', started_at: null });
  expect(ended.verdict.evidence.join()).toMatch(/secret of credential c1 does not open with this key/);
  expect((await fleet.deps.store.read('credentials', {})).map((c) => c.state)).toEqual([
    'rejected',
    'rejected',
    'rejected',
  ]);
  // One notice for all of them, and nothing else is used instead.
  const told = (await fleet.api('GET', '/api/operator-queue?status=pending')).body as { title: string }[];
  expect(told.filter((i) => /do not open/.test(i.title))).toHaveLength(1);

  expect((await fleet.api('GET', '/api/subscriptions')).body).toHaveLength(3);
  expect((await fleet.api('GET', '/api/settings/api-keys')).body.anthropic).toMatchObject({ configured: true });
});
