/** One life, one path: what every engine must do with a row from its queueing to its one ending. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { anEnqueue } from '../../../test/support/rows.ts';
import { verifies } from '../../../test/support/verifies.ts';
import type { OpenEngine } from './engine.ts';
import { about, failed, type House, leaseMs, openHouse, room } from './house.ts';

export const lifeConformance = (open: OpenEngine): void => {
  let h: House;
  beforeEach(async () => {
    h = await openHouse(open);
    await h.agent('a');
  });
  afterEach(() => h.end());

  describe('queue', () => {
    it(verifies('R6')('stores a request as a queued row with its texts and one event'), async () => {
      const e = await h.submit('a', { message: 'hello', options: { model: 'm' } });
      expect(await h.row(e.id)).toMatchObject({ ...e, status: 'queued', message: 'hello', response: null });
      const { events } = await h.read('events_after', { after: 0, limit: 10 });
      expect(events.at(-1)).toMatchObject({ type: 'execution.queued', execution_id: e.id, agent_name: 'a' });
    });

    it('refuses an unknown and a stopped agent, and leaves no row', async () => {
      expect(await h.ask('nobody')).toMatchObject({ code: 'not_found' });
      const a = (await h.read('agent_by_name', { name: 'a' }))!;
      await h.write('update_agent', { id: a.id, patch: { desired_state: 'stopped' } });
      expect(await h.ask('a')).toMatchObject({ code: 'agent_stopped' });
      expect(await h.read('executions', { limit: 10 })).toEqual([]);
    });

    it(verifies('R46')('gives the same execution for the same key and body, and refuses another body'), async () => {
      const key = { scope: 'user:1', key: 'k', body_hash: 'h1' };
      const first = await h.submit('a', {}, { idempotency: key });
      const again = await h.write('enqueue', { ...enqueueArgs(h, first.agent_id), idempotency: key });
      expect(again).toMatchObject({ replay: true, execution: { id: first.id } });
      const other = await h.ask('a', {}, { idempotency: { ...key, body_hash: 'h2' } });
      expect(other).toMatchObject({ code: 'idempotency_conflict', executionId: first.id });
      expect(await h.submit('a', {}, { idempotency: { ...key, scope: 'user:2' } })).not.toMatchObject({ id: first.id });
      h.pass(24 * 3_600_000);
      expect((await h.submit('a', {}, { idempotency: { ...key, body_hash: 'h2' } })).id).not.toBe(first.id);
    });

    it('bounds the backlog exactly, also after rows have left it, and says how long it is', async () => {
      await h.agent('b', { max_backlog_depth: 3, max_parallel_tasks: 1 });
      for (let i = 0; i < 3; i++) await h.submit('b', { class: i % 2 ? 'batch' : 'interactive' });
      expect(await h.ask('b')).toMatchObject({
        code: 'backlog_full',
        details: { queue_length: 3, max_backlog_depth: 3 },
      });
      await h.claim();
      await h.submit('b');
      expect(await h.ask('b')).toMatchObject({ code: 'backlog_full' });
      const b = (await h.read('agent_by_name', { name: 'b' }))!;
      await h.write('update_agent', { id: b.id, patch: { max_backlog_depth: 4 } });
      await h.submit('b');
      expect(await h.ask('b')).toMatchObject({ code: 'backlog_full' });
    });
  });

  describe('attempt', () => {
    it(verifies('R6', 'R7')('goes from queued over running to success, with what was measured'), async () => {
      const e = await h.submit('a');
      h.pass(700);
      const [c] = await h.claim();
      expect(c).toMatchObject({
        message: 'do it',
        execution: { id: e.id, status: 'running', attempt: 1, queued_ms: 700 },
      });
      expect(await h.begin(c!)).toEqual({ go: true, why: null });
      const spawned = h.now();
      h.pass(5_000);
      const done = await h.settle(c!, {
        facts: {
          spawned_at: spawned,
          ended_at: h.now(),
          run_ms: 5_000,
          stream: { response: 'here', session_id: 's1', cost_usd: 0.5, tool_calls: 2, turns: 3 },
        },
        cost_usd: 0.5,
        cost_kind: 'billed',
      });
      expect(done.result).toBe('settled');
      expect(await h.row(e.id)).toMatchObject({
        status: 'success',
        cause: 'success',
        started_at: spawned,
        completed_at: h.now(),
        duration_ms: 5_000,
        queued_ms: 700,
        cost_usd: 0.5,
        response: 'here',
        error: null,
        cli_session_id: 's1',
        tool_calls: 2,
        turns: 3,
      });
      expect(await h.read('attempts', { execution_id: e.id })).toMatchObject([
        { number: 1, late: false, cost_usd: 0.5 },
      ]);
    });

    it('counts a result once: a repeat changes nothing, an unknown token is lost', async () => {
      const e = await h.submit('a');
      const c = await h.start();
      await h.settle(c, { cost_usd: 1, cost_kind: 'billed' });
      const before = await h.row(e.id);
      expect((await h.settle(c, { cost_usd: 1, cost_kind: 'billed', ...failed('crashed') })).result).toBe('replayed');
      expect((await h.settle({ ...c, token: 'other' })).result).toBe('lost');
      expect(await h.row(e.id)).toEqual(before);
    });

    it(
      verifies('R24')('queues a retry again with not_before, adds costs up, resumes the session, and keeps its tree'),
      async () => {
        const e = await h.submit('a', { kind: 'chat' });
        const c = await h.start();
        await h.settle(c, {
          ...failed('overloaded'),
          decision: { kind: 'retry', after_ms: 5_000, why: 'overloaded' },
          facts: {
            stream: { session_id: 's1', cost_usd: 1 },
            workspace: {
              mode: 'worktree',
              path: '/w',
              ref: 'refs/x',
              commit: 'c',
              files_changed: 1,
              insertions: 1,
              deletions: 0,
              keep_error: null,
            },
          },
          cost_usd: 1,
          cost_kind: 'billed',
        });
        expect(await h.row(e.id)).toMatchObject({
          status: 'queued',
          not_before: h.now() + 5_000,
          started_at: null,
          cost_usd: 1,
        });
        expect(await h.claim()).toEqual([]);
        expect(await h.reason(e.id)).toBe('not_before');
        h.pass(5_000);
        const [again] = await h.claim();
        expect(again).toMatchObject({
          execution: { id: e.id, attempt: 2, cli_session_id: 's1' },
          session_cost_before: 1,
          resume_ref: 'refs/x',
        });
        await h.begin(again!);
        await h.settle(again!, { cost_usd: 0.25, cost_kind: 'billed' });
        expect(await h.row(e.id)).toMatchObject({ status: 'success', cost_usd: 1.25, attempt: 2 });
      },
    );

    it('tells the dispatcher when a parked row is due', async () => {
      await h.submit('a');
      const c = await h.start();
      await h.settle(c, {
        ...failed('usage_limit'),
        decision: { kind: 'park', until: h.now() + 60_000, why: 'limit' },
      });
      const { result } = await h.written('claim_next', {
        runner_id: 'r1',
        room,
        about,
        max: 0,
        lease_ms: leaseMs,
        fresh: [],
        limits: h.limits,
      });
      expect(result.next_wake).toBe(h.now() + 60_000);
    });

    it(
      verifies('R23')('takes a result of a reaped attempt while its row waits again, and keeps a later one as late'),
      async () => {
        const e = await h.submit('a');
        const [c] = await h.claim();
        h.pass(leaseMs);
        await h.write('reap', { lease_ms: leaseMs, grace_ms: 900_000, same_host: null, max: 10 });
        expect(await h.status(e.id)).toBe('queued');
        expect((await h.settle(c!, { cost_usd: 1, cost_kind: 'billed' })).result).toBe('settled');
        expect(await h.status(e.id)).toBe('success');

        const f = await h.submit('a');
        const [one] = await h.claim();
        h.pass(leaseMs);
        await h.write('reap', { lease_ms: leaseMs, grace_ms: 900_000, same_host: null, max: 10 });
        const two = await h.start();
        expect((await h.settle(one!, { cost_usd: 1, cost_kind: 'billed' })).result).toBe('late');
        expect(await h.row(f.id)).toMatchObject({ status: 'running', attempt: 2, cost_usd: 1 });
        await h.settle(two, { cost_usd: 2, cost_kind: 'billed', ...failed('crashed') });
        expect(await h.row(f.id)).toMatchObject({ status: 'failed', cause: 'crashed', cost_usd: 3 });
        expect(await h.read('attempts', { execution_id: f.id })).toMatchObject([{ late: true }, { late: false }]);
      },
    );
  });

  describe('cancel', () => {
    it(
      verifies('R25', 'D10')('ends a queued row that then never spawns, and leaves its neighbours their slots'),
      async () => {
        const rows = [await h.submit('a'), await h.submit('a'), await h.submit('a')];
        const claims = await h.claim(3);
        for (const c of claims) await h.begin(c);
        const waiting = await h.submit('a');
        expect(await cancel(h, waiting.id)).toBe('cancelled_while_queued');
        expect(await h.row(waiting.id)).toMatchObject({ status: 'cancelled', cause: 'cancelled', attempt: 0 });
        expect(await cancel(h, rows[1]!.id)).toBe('terminated');
        await h.settle(claims[1]!, { ...failed('cancelled'), decision: { kind: 'end', status: 'cancelled' } });
        expect(await h.claim(3)).toEqual([]);
        expect([await h.status(rows[0]!.id), await h.status(rows[1]!.id), await h.status(rows[2]!.id)]).toEqual([
          'running',
          'cancelled',
          'running',
        ]);
        expect(await cancel(h, rows[1]!.id)).toBe('already_finished');
        expect(await cancel(h, 'nothing')).toBe('not_found');
      },
    );

    it(verifies('D9')('between claim and begin nothing is spawned, and after begin the runner is told'), async () => {
      const e = await h.submit('a');
      const [c] = await h.claim();
      await cancel(h, e.id);
      expect(await h.begin(c!)).toEqual({ go: false, why: 'cancelled' });
      expect(await h.row(e.id)).toMatchObject({ status: 'cancelled', cost_usd: null });

      const f = await h.submit('a');
      const d = await h.start();
      const { stirred } = await h.written('cancel', { execution_id: f.id, by: 'user:1', reason: 'enough' });
      expect(stirred.stops).toEqual([{ execution_id: f.id, runner_id: 'r1' }]);
      expect(await h.read('attempts_to_stop', { runner_id: 'r1' })).toEqual([
        { attempt_id: d.attempt_id, reason: 'cancel' },
      ]);
      expect(await renewed(h, d)).toEqual([{ attempt: d.attempt_id, state: 'stop', reason: 'cancel' }]);
    });

    it(
      verifies('D9')(
        'in one group with the claim, in either order, many times: never spawned, never billed, never lost',
      ),
      async () => {
        for (let i = 0; i < 40; i++) {
          const e = await h.submit('a');
          const fresh = { attempt_id: h.id(), token: `token-${h.id()}` };
          const at = { now: h.now(), steady: h.now() };
          const claim = {
            verb: 'claim_next' as const,
            args: {
              ...at,
              runner_id: 'r1',
              room,
              about,
              max: 1,
              lease_ms: leaseMs,
              fresh: [fresh],
              limits: h.limits,
            },
          };
          const stop = { verb: 'cancel' as const, args: { ...at, execution_id: e.id, by: 'user:1', reason: null } };
          await h.engine.together(i % 2 ? [claim, stop] : [stop, claim]);
          const why = i % 2 ? 'cancelled' : 'unknown';
          expect(await h.write('begin', { ...fresh, lease_ms: leaseMs })).toEqual({ go: false, why });
          expect(await h.row(e.id)).toMatchObject({
            status: 'cancelled',
            cause: 'cancelled',
            cost_usd: null,
            attempt: i % 2,
          });
        }
        expect((await h.read('occupancy', { limits: h.limits })).fleet).toMatchObject({ running: 0, queued: 0 });
      },
    );

    it('never queues a cancelled row again, and lets a result that was there first stand', async () => {
      const e = await h.submit('a');
      const c = await h.start();
      await cancel(h, e.id);
      await h.settle(c, { ...failed('overloaded'), decision: { kind: 'retry', after_ms: 0, why: 'x' } });
      expect(await h.row(e.id)).toMatchObject({ status: 'cancelled', cause: 'cancelled' });
      const f = await h.submit('a');
      const d = await h.start();
      await cancel(h, f.id);
      await h.settle(d);
      expect(await h.status(f.id)).toBe('success');
    });

    it('clears the queue of an agent, those behind in a session and the parked too, and nothing else', async () => {
      const s = await h.submit('a', { kind: 'chat' });
      await h.submit('a', { kind: 'chat', session_id: s.session_id });
      await h.agent('b');
      const other = await h.submit('b');
      const run = await h.start();
      await h.submit('a');
      expect(await h.write('clear_queue', { agent_id: s.agent_id, by: 'user:1' })).toEqual({ cancelled: 2 });
      expect(await h.status(run.execution.id)).toBe('running');
      expect(await h.status(other.id)).toBe('queued');
    });
  });

  it(verifies('D36')('an agent made again under its name inherits no rows, sessions or limits'), async () => {
    const chat = await h.submit('a', { kind: 'chat' });
    const c = await h.start();
    const waiting = await h.submit('a');
    await h.write('delete_agent', { id: chat.agent_id, by: 'user:1' });
    expect(await h.status(waiting.id)).toBe('cancelled');
    expect(await h.row(chat.id)).toMatchObject({ status: 'running', cancel_requested_at: h.now() });
    await h.agent('a', { max_parallel_tasks: 1 });
    const fresh = await h.submit('a', { kind: 'chat' });
    expect(fresh.session_id).not.toBe(chat.session_id);
    expect((await h.claim()).map((x) => x.execution.id)).toEqual([fresh.id]);
    await h.settle(c);
    expect(await h.status(chat.id)).toBe('success');
  });
};

const cancel = async (h: House, id: string) =>
  (await h.write('cancel', { execution_id: id, by: 'user:1', reason: null })).result;

const renewed = (h: House, c: { attempt_id: string; token: string }) =>
  h.write('renew', {
    runner_id: 'r1',
    room,
    lease_ms: leaseMs,
    attempts: [{ attempt: c.attempt_id, token: c.token, proof: null, started_at: null, cpu_ms: null, rss_bytes: null }],
  });

const enqueueArgs = (h: House, agent_id: string) => anEnqueue({ id: h.id(), agent_id }, { agent_name: 'a' });
