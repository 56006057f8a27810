import { afterEach, describe, expect, it } from 'vitest';
import { commit } from '../../src/record/commit.ts';
import { type Answer, type Fleet, openFleet, room } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
afterEach(() => fleet.end());

const submit = async (agent: string, body: object = {}): Promise<string> => {
  const answer = await fleet.api('POST', `/api/agents/${agent}/task`, { message: 'x', async_mode: true, ...body });
  expect(answer.status).toBe(202);
  return answer.body.execution_id;
};
const statusOf = async (id: string) => (await fleet.row(id)).status as string;
/** Moves time in small steps, so that what is due in between runs, until it holds. */
const advanceUntil = async <T>(stepMs: number, look: () => Promise<T>, ready: (seen: T) => boolean): Promise<T> => {
  for (;;) {
    await fleet.clock.advance(stepMs);
    // A write of our own comes back after those that the step brought about: the disk's speed moves no clock.
    await commit(fleet.deps, 'keep_clock', { steady: fleet.clock.steady() });
    const seen = await look();
    if (ready(seen)) return seen;
  }
};

describe('limits, seen from outside', () => {
  it(verifies('R9', 'R11')('the floors of a host are those of the configuration'), async () => {
    fleet = await openFleet({ DROVER_MEMORY_FLOOR_PERCENT: '90', DROVER_DISK_FLOOR_MIB: '10000' });
    const { memory_total } = room;
    await fleet.agent('small');
    await fleet.agent('large', { memory_bytes: memory_total / 10 });
    const small = await submit('small');
    const large = await submit('large');
    expect((await fleet.runner.claim()).map((w) => w.execution_id)).toEqual([small]);
    expect((await fleet.row(large)).wait).toMatchObject({ reason: 'memory' });
    const low = { ...room, disk_available: 9_999 * 1024 ** 2 };
    expect((await fleet.runner.request('/renew', { room: low, attempts: [] })).status).toBe(200);
    const next = await submit('small');
    expect((await fleet.row(next)).wait).toMatchObject({ reason: 'disk' });
  });

  it(
    verifies('D1', 'R13')('fleet cap 2, budget 2 s, three calls: two hold, the third is told the exact text'),
    async () => {
      fleet = await openFleet({ BACKEND_AGENT_CALL_LIMIT: '2', BACKEND_AGENT_CALL_QUEUE_TIMEOUT_S: '2' });
      await fleet.agent('sleeper');
      const started = fleet.clock.now();
      const answers: Answer[] = [];
      const calls = [1, 2, 3].map(() =>
        fleet.api('POST', '/api/agents/sleeper/chat', { message: 'sleep' }).then((a) => void answers.push(a)),
      );
      await fleet.until(
        async () => (await fleet.api('GET', '/api/agents/sleeper/queue')).body.queue_length as number,
        (n) => n === 3,
      );
      const works = await fleet.runner.claim();
      expect(works).toHaveLength(2);
      for (const w of works) expect(await fleet.runner.begin(w)).toMatchObject({ go: true });
      await fleet.runner.renew(works);

      const [waiting] = (await fleet.api('GET', '/api/agents/sleeper/queue')).body.queued_executions;
      expect(waiting).toMatchObject({ status: 'queued', wait: { reason: 'fleet_cap', position: 1 } });
      await advanceUntil(
        100,
        async () => (await fleet.api('GET', '/health')).status,
        (status) => {
          expect(status).toBe(200);
          return answers.length > 0;
        },
      );
      const waited = fleet.clock.now() - started;
      expect(waited).toBeGreaterThanOrEqual(2_000);
      expect(waited).toBeLessThan(4_000);
      const [third] = answers;
      expect(third!.status).toBe(503);
      const text = third!.body.detail as string;
      expect(text).toMatch(/^Backend call budget exhausted for sleeper after \d+ms \(agent_cap=3, global_cap=2\)$/);
      expect(third!.body.error).toMatchObject({ code: 'call_budget_exhausted', message: text, retryable: true });
      expect(third!.body.error.details.type).toBe('BackendAgentCallBudgetExhausted');
      expect(third!.headers['x-trinity-error-code']).toBe('capacity');
      const row = await fleet.row(third!.headers['x-execution-id']!);
      expect(row).toMatchObject({
        status: 'failed',
        cause: 'call_budget_exhausted',
        error: text,
        started_at: null,
        attempts: [],
      });
      expect(await fleet.deps.store.read('credential_events', { limit: 10 })).toEqual([]);
      for (const w of works) expect(await statusOf(w.execution_id)).toBe('running');
      for (const w of works) await fleet.runner.finish(w);
      await Promise.all(calls);
      expect(answers.map((a) => a.status).sort()).toEqual([200, 200, 503]);
    },
  );

  it(
    verifies(
      'D3',
      'R7',
    )('a row that waited longer than its timeout runs for the whole of it; its duration excludes the wait'),
    async () => {
      fleet = await openFleet();
      await fleet.agent('single', { max_parallel_tasks: 1 });
      const [first, second] = [await submit('single'), await submit('single', { timeout_seconds: 10 })];
      const [one] = await fleet.runner.claim();
      expect(one!.execution_id).toBe(first);
      await fleet.runner.begin(one!);
      for (let s = 0; s < 6; s++) {
        await fleet.clock.advance(10_000);
        await fleet.runner.renew([one!]);
      }
      expect(await statusOf(second)).toBe('queued');
      await fleet.runner.finish(one!);
      const [two] = await fleet.runner.claim();
      expect(two).toMatchObject({ execution_id: second, timeout_s: 10 });
      await fleet.runner.begin(two!);
      const spawned_at = fleet.clock.now();
      await fleet.clock.advance(10_000);
      await fleet.runner.finish(two!, { spawned_at, ended_at: fleet.clock.now(), run_ms: 10_000 });
      const row = await fleet.row(second);
      expect(row).toMatchObject({
        status: 'success',
        duration_ms: 10_000,
        started_at: new Date(spawned_at).toISOString(),
      });
      expect(row.queued_ms).toBeGreaterThanOrEqual(60_000);
    },
  );

  it(verifies('D4', 'R12')('budget 0 waits for ever'), async () => {
    fleet = await openFleet({ BACKEND_AGENT_CALL_QUEUE_TIMEOUT_S: '0', DROVER_DURABLE_QUEUE_TIMEOUT_S: '0' });
    await fleet.agent('single', { max_parallel_tasks: 1 });
    const id = await submit('single');
    for (let day = 0; day < 3; day++) await fleet.clock.advance(86_400_000);
    expect(await fleet.row(id)).toMatchObject({ status: 'queued', wait: { reason: 'no_runner' } });
    const [work] = await fleet.runner.claim();
    expect(work!.execution_id).toBe(id);
  });

  it(verifies('D4')('an agent without a cap of its own has 3'), async () => {
    fleet = await openFleet();
    await fleet.agent('plain');
    for (let i = 0; i < 5; i++) await submit('plain');
    expect(await fleet.runner.claim()).toHaveLength(3);
    const { queued_executions } = (await fleet.api('GET', '/api/agents/plain/queue')).body;
    expect(queued_executions.map((e: Answer['body']) => [e.wait.reason, e.wait.position])).toEqual([
      ['agent_cap', 1],
      ['agent_cap', 2],
    ]);
  });

  it(verifies('D4')('a slot is free again after success, error, cancel and crash alike'), async () => {
    fleet = await openFleet({ DROVER_RUNNER_GRACE_S: '30' });
    await fleet.agent('single', { max_parallel_tasks: 1 });
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await submit('single', { max_retries: 0 }));
    const next = async () => {
      const works = await fleet.runner.claim();
      expect(works).toHaveLength(1);
      await fleet.runner.begin(works[0]!);
      return works[0]!;
    };
    await fleet.runner.finish(await next());
    await fleet.runner.finish(await next(), { exit_code: 1 });
    const third = await next();
    expect(
      (await fleet.api('POST', `/api/agents/single/executions/${third.execution_id}/terminate`, {})).body.status,
    ).toBe('terminated');
    const at = fleet.clock.now();
    await fleet.runner.finish(third, {
      exit_code: null,
      signal: 'SIGINT',
      stop: { reason: 'cancel', at, detail: null },
    });
    const fourth = await next();
    await advanceUntil(
      5_000,
      () => statusOf(fourth.execution_id),
      (s) => s === 'failed',
    );
    const fifth = await next();
    await fleet.runner.finish(fifth);
    const ends = await Promise.all(ids.map((id) => fleet.row(id)));
    expect(ends.map((e) => e.status)).toEqual(['success', 'failed', 'cancelled', 'failed', 'success']);
    expect(ends[3]).toMatchObject({ cause: 'runner_lost' });
  });

  it(
    verifies(
      'D10',
      'R25',
    )('a cancelled queued row is never handed out; a cancelled running one leaves the others their slots'),
    async () => {
      fleet = await openFleet();
      await fleet.agent('plain');
      const ids: string[] = [];
      for (let i = 0; i < 5; i++) ids.push(await submit('plain'));
      const running = await fleet.runner.claim();
      for (const w of running) await fleet.runner.begin(w);
      const stop = (id: string) =>
        fleet.api('POST', `/api/agents/plain/executions/${id}/terminate`, { reason: 'no need' });
      expect((await stop(ids[3]!)).body.status).toBe('cancelled_while_queued');
      expect(await fleet.row(ids[3]!)).toMatchObject({ status: 'cancelled', attempts: [], started_at: null });

      expect((await stop(running[0]!.execution_id)).body.status).toBe('terminated');
      const { results } = await fleet.runner.renew(running);
      expect(results).toEqual([
        { attempt: running[0]!.attempt, state: 'stop', reason: 'cancel' },
        { attempt: running[1]!.attempt, state: 'ok', called_ms: 0 },
        { attempt: running[2]!.attempt, state: 'ok', called_ms: 0 },
      ]);
      await fleet.runner.finish(running[0]!, {
        exit_code: 0,
        stop: { reason: 'cancel', at: fleet.clock.now(), detail: null },
      });
      const next = await fleet.runner.claim();
      expect(next.map((w) => w.execution_id)).toEqual([ids[4]]);
      expect(await statusOf(running[1]!.execution_id)).toBe('running');
      expect(await statusOf(running[2]!.execution_id)).toBe('running');
      expect((await stop(running[0]!.execution_id)).body.status).toBe('already_finished');
      expect(await statusOf(running[0]!.execution_id)).toBe('cancelled');
    },
  );
});
