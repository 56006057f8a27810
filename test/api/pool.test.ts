/** The credential pool through the real routes and the whole door of endings: who is blamed, who goes on with what, what is told. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';
import { claimFor } from '../../src/flow/begin.ts';
import { type LoginEnding, overloadedRun, rejectedLogin, usedUp, wentWell } from '../support/claude-endings.ts';
import { type Fleet, openFleet, room } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
let owner_id: string;
const open = async (env: Record<string, string> = {}) => {
  fleet = await openFleet(env);
  owner_id = (await fleet.deps.store.read('user_by_name', { username: 'admin' }))!.id;
  await agent('coder');
};
beforeEach(() => open());
afterEach(() => fleet.end());

const agent = (name: string, over = {}) =>
  fleet.agent(name, { adapter: 'claude', command: null, owner_id, max_parallel_tasks: 9, ...over });
const store = async (name: string, over: Record<string, unknown> = {}): Promise<string> => {
  const made = await fleet.api('POST', '/api/subscriptions', {
    name,
    kind: 'claude_oauth',
    token: `sk-ant-oat-${name}`,
    ...over,
  });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
};
const submit = async (name = 'coder'): Promise<string> =>
  (await fleet.api('POST', `/api/agents/${name}/task`, { message: 'x', async_mode: true })).body.execution_id;
/** A runner's pull without the wait: what can be claimed now, and nothing else. */
const claims = async (max: number): Promise<ClaimedWork[]> => {
  const [runner] = await fleet.deps.store.read('runners', {});
  const about = {
    host: 'test-host',
    boot_id: 'test-boot',
    version: '0',
    isolation: 'none',
    cgroup: 'none',
    holds: null,
  } as const;
  const pull = { room, labels: [], ...about, max, wait_ms: 0, stopping: [] };
  const works = (await claimFor(fleet.deps, runner!.id, pull)).claims;
  for (const work of works) await fleet.runner.begin(work);
  return works;
};
const claim = async (): Promise<ClaimedWork> => {
  const [work] = await claims(1);
  if (!work) throw new Error(`nothing to claim: ${JSON.stringify(await states())}`);
  return work;
};
const none = async () => expect(await claims(8)).toEqual([]);
const lent = (work: ClaimedWork) => work.credential?.env.CLAUDE_CODE_OAUTH_TOKEN?.replace('sk-ant-oat-', '');
const end = (work: ClaimedWork, how: LoginEnding) => fleet.runner.finish(work, how);
const states = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await fleet.api('GET', '/api/subscriptions')).body.map((c: { name: string; state: string }) => [c.name, c.state]),
  );
const items = async () =>
  (await fleet.api('GET', '/api/operator-queue?status=pending')).body as { title: string; evidence: string[] }[];
const events = async () => (await fleet.api('GET', '/api/subscriptions/events')).body as { effect: string }[];
const now = () => fleet.clock.now();
const hour = 3_600_000;

describe('a login that fails', () => {
  it(verifies('R39', 'R24')('lends its execution another of its pool, once, with the same session'), async () => {
    for (const name of ['a', 'b', 'c']) await store(name);
    const id = await submit();
    const first = await claim();
    await end(first, rejectedLogin(now(), 'cli-7'));
    expect(await fleet.row(id)).toMatchObject({ status: 'queued', attempts: [{ decision: { kind: 'switch' } }] });
    const second = await claim();
    expect(second.execution_id).toBe(id);
    expect(second.cli_session_id).toBe('cli-7');
    expect(lent(second)).not.toBe(lent(first));
    expect((await states())[lent(first)!]).toBe('rejected');
    expect((await items())[0]!.title).toContain(lent(first));
    // The second failure is of another kind: one switch is all that an execution gets.
    await end(second, usedUp(now(), now() + hour));
    const row = await fleet.row(id);
    expect(row.status).toBe('queued');
    expect(row.attempts[1].decision).toMatchObject({ kind: 'park', for: 'time' });
    await none();
    await fleet.clock.advance(hour);
    const third = await claim();
    expect(third.execution_id).toBe(id);
    await end(third, wentWell());
    expect(await fleet.row(id)).toMatchObject({ status: 'success', error: null });
    const why = (await fleet.api('GET', `/api/executions/${id}/why`)).body;
    expect(why.attempts.map((a: { decision: { kind: string } }) => a.decision.kind)).toEqual(['switch', 'park', 'end']);
  });

  it(
    verifies(
      'R39',
      'D26',
    )('moves an agent once: three in flight keep their own, two failures that race move to the same one'),
    async () => {
      await store('a');
      const ids = [await submit(), await submit(), await submit()];
      const works = [await claim(), await claim(), await claim()];
      await store('b');
      await store('c');
      const [one, two] = await Promise.all(works.slice(0, 2).map((w) => end(w, rejectedLogin(now(), w.execution_id))));
      expect([one, two]).toEqual(['settled', 'settled']);
      const again = [await claim(), await claim()];
      expect(new Set(again.map(lent)).size).toBe(1);
      expect((await fleet.api('GET', '/api/subscriptions/switches')).body).toHaveLength(1);
      // The third was not touched, and ends on what it was lent.
      expect(await fleet.row(ids[2]!)).toMatchObject({ status: 'running', attempt: 1 });
      expect((await fleet.runner.renew([works[2]!])).results[0]).toMatchObject({ state: 'ok' });
      await end(works[2]!, wentWell());
      expect(await fleet.row(ids[2]!)).toMatchObject({ status: 'success' });
    },
  );

  it(
    verifies('R39', 'D27')('on two credentials that work for others is the agent’s fault: the pool is not walked'),
    async () => {
      for (const name of ['a', 'b', 'c']) await store(name);
      await agent('healthy');
      for (let i = 0; i < 3; i++) {
        await submit('healthy');
        await end(await claim(), wentWell());
        await fleet.clock.advance(10);
      }
      const id = await submit();
      await end(await claim(), rejectedLogin(now()));
      const waiting = await submit();
      await end(await claim(), rejectedLogin(now()));
      expect(await fleet.row(id)).toMatchObject({ status: 'failed', cause: 'auth_failed', attempt: 2 });
      expect(await states()).toEqual({ a: 'ok', b: 'ok', c: 'ok' });
      expect((await fleet.api('GET', '/api/agents/coder')).body.status).toBe('stopped');
      expect((await items()).filter((i) => i.title.startsWith('coder'))).toHaveLength(1);
      await none();
      expect((await fleet.row(waiting)).wait.reason).toBe('agent_stopped');
      expect((await events()).map((e) => e.effect)).toEqual(['agent_blamed', 'state']);
      await submit('healthy');
      expect(lent(await claim())).toBeDefined();
    },
  );

  it(verifies('R39')('on two alike that nobody succeeds on is an incident: no third one is tried by it'), async () => {
    for (const name of ['a', 'b', 'c']) await store(name);
    const id = await submit();
    await end(await claim(), rejectedLogin(now()));
    await end(await claim(), rejectedLogin(now()));
    expect(await fleet.row(id)).toMatchObject({ status: 'failed', cause: 'auth_failed', attempt: 2 });
    expect(Object.values(await states()).sort()).toEqual(['rejected', 'rejected', 'unknown']);
    expect((await items()).filter((i) => /rejected alike/.test(i.title))).toHaveLength(1);
    // What is left is tried by one run at a time.
    await submit();
    await submit();
    await claim();
    await none();
  });

  it(verifies('R38')('comes back by a new secret at once, and by a probe after a while'), async () => {
    await store('a');
    const id = await submit();
    await end(await claim(), rejectedLogin(now()));
    expect(await fleet.row(id)).toMatchObject({ status: 'failed', cause: 'auth_failed' });
    const next = await submit();
    await none();
    expect((await fleet.row(next)).wait.reason).toBe('credentials_exhausted');
    await fleet.clock.advance(30 * 60_000);
    const probe = await claim();
    await end(probe, rejectedLogin(now()));
    // The probe costs nobody his work.
    expect(await fleet.row(next)).toMatchObject({ status: 'queued', attempts: [{ decision: { kind: 'park' } }] });
    await none();
    const replaced = await fleet.api('PUT', '/api/subscriptions/a', { token: 'sk-ant-oat-fresh' });
    expect(replaced.status, replaced.text).toBe(200);
    expect(replaced.body.state).toBe('unknown');
    const works = await claim();
    expect(lent(works)).toBe('fresh');
    await end(works, wentWell());
    expect(await states()).toEqual({ a: 'ok' });
  });
});

describe('plans that are used up', () => {
  it(
    verifies('R38', 'D24')('with the same reset: no ping-pong, one notice, and an error that names the reset'),
    async () => {
      const reset = Math.ceil(now() / 1000) * 1000 + 40_000;
      await store('a');
      await store('b');
      const ids = [await submit(), await submit()];
      await end(await claim(), usedUp(now(), reset));
      await end(await claim(), usedUp(now(), reset));
      for (let i = 0; i < 4; i++) {
        const [work] = await claims(1);
        if (work) await end(work, usedUp(now(), reset));
      }
      const spawned = (await Promise.all(ids.map((i) => fleet.row(i)))).map((r) => r.attempt);
      expect(Math.max(...spawned)).toBeLessThanOrEqual(2);
      for (const id of ids) {
        const row = await fleet.row(id);
        expect(row).toMatchObject({ status: 'queued', wait: { reason: 'credentials_exhausted' } });
        // What was never started has only its wait to tell.
        if (row.attempt > 0) expect(row.error).toContain(new Date(reset).toISOString());
        expect(row.wait.until).toBe(new Date(reset).toISOString());
      }
      const told = await items();
      expect(told).toHaveLength(1);
      expect(told[0]!.title).toContain(new Date(reset).toISOString());
      await fleet.clock.advance(reset - now() - 5_000);
      await none();
      await fleet.clock.advance(5_000);
      const back = await claim();
      await end(back, wentWell());
      expect(await fleet.row(back.execution_id)).toMatchObject({ status: 'success' });
      expect((await items()).filter((i) => i.title.includes('used up'))).toEqual([]);
    },
  );

  it(verifies('R38', 'R12')('hold no line open until a far reset: who waits is given the id, and why'), async () => {
    await store('a');
    const chat = fleet.api('POST', '/api/agents/coder/chat', { message: 'x' });
    const bounded = fleet.api('POST', '/api/agents/coder/task', { message: 'y' }, { prefer: 'wait=7200' });
    await fleet.until(
      async () => (await fleet.api('GET', '/api/agents/coder/queue')).body.queue_length as number,
      (n) => n === 2,
    );
    const work = await claim();
    const reset = Math.ceil(now() / 1000) * 1000 + hour;
    await end(work, usedUp(now(), reset));
    // The one that is put aside is told at once; one that was never started, with the next look at it.
    const late = fleet.api('POST', '/api/agents/coder/chat', { message: 'z' });
    await fleet.until(
      async () => (await fleet.api('GET', '/api/agents/coder/queue')).body.queue_length as number,
      (n) => n === 3,
    );
    await fleet.clock.advance(20_000);
    const until = new Date(reset).toISOString();
    for (const answer of [await chat, await late]) {
      expect(answer.status, answer.text).toBe(202);
      expect(answer.body).toMatchObject({ status: 'queued', wait: { reason: 'credentials_exhausted', until } });
      expect(answer.headers['x-execution-id']).toBe(answer.body.execution_id);
    }
    // Who said how long it would hold the line holds it.
    await fleet.clock.advance(reset - now());
    for (let i = 0; i < 3; i++) await end(await claim(), wentWell());
    expect(await bounded).toMatchObject({ status: 200 });
  });

  it(verifies('R12', 'R38')('cost waiting work nothing of its budget, and a new credential wakes it'), async () => {
    await fleet.end();
    await open({ DROVER_DURABLE_QUEUE_TIMEOUT_S: '30' });
    await store('a');
    const id = await submit();
    await end(await claim(), usedUp(now(), now() + hour));
    await fleet.clock.advance(120_000);
    expect(await fleet.row(id)).toMatchObject({ status: 'queued' });
    await store('b');
    expect(lent(await claim())).toBe('b');
  });

  it(verifies('R41')('hand nothing on to another plan when switching between subscriptions is off'), async () => {
    await store('a');
    const off = await fleet.api('PUT', '/api/subscriptions/settings/auto-switch', { enabled: false });
    expect(off.body).toMatchObject({ enabled: false });
    const id = await submit();
    const work = await claim();
    await store('b');
    await end(work, usedUp(now(), now() + hour));
    expect((await fleet.row(id)).attempts[0].decision).toMatchObject({ kind: 'park', for: 'time' });
    await none();
    expect(await events()).toHaveLength(1);
  });
});

describe('what says nothing of a credential', () => {
  it(verifies('R29', 'D25')('a run that logged in with something else than it was lent'), async () => {
    await store('a');
    await store('b');
    const id = await submit();
    const ended = rejectedLogin(now());
    await end(await claim(), { ...ended, stream: { ...ended.stream, api_key_source: 'apiKeyHelper' } });
    expect(await fleet.row(id)).toMatchObject({ status: 'failed', attention: ['login_differs'] });
    expect(await states()).toEqual({ a: 'unknown', b: 'unknown' });
    expect(await events()).toEqual([]);
    expect((await items()).some((i) => /something else/.test(i.title))).toBe(true);
  });

  it(verifies('R36')('what a run still shows of a secret that was replaced meanwhile'), async () => {
    await store('a');
    await submit();
    const work = await claim();
    await fleet.clock.advance(1_000);
    await fleet.api('PUT', '/api/subscriptions/a', { token: 'sk-ant-oat-fresh' });
    await end(work, rejectedLogin(now()));
    expect(await states()).toEqual({ a: 'unknown' });
    expect((await events()).map((e) => e.effect)).toEqual(['older_secret']);
  });

  it(verifies('R40', 'R36')('overload: it only slows its credential down, and speeds up again'), async () => {
    await store('a');
    for (let i = 0; i < 6; i++) await submit();
    const works = await claims(6);
    await end(works[0]!, overloadedRun(now()));
    expect(await states()).toEqual({ a: 'unknown' });
    expect((await fleet.api('GET', '/api/subscriptions')).body[0]).toMatchObject({ pace: 3 });
    for (const w of works.slice(1)) await end(w, wentWell());
    expect((await fleet.api('GET', '/api/subscriptions')).body[0]).toMatchObject({ pace: 4, state: 'ok' });
  });
});
