/**
 * No verb reads the whole of the hot table, whatever its size: the verbs of a life run, then each statement is asked for its plan.
 * A claim that did took 366 ms at 100,000 rows.
 */
import { expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { OpenEngine } from './engine.ts';
import { failed, leaseMs, openHouse, room } from './house.ts';

export const plansConformance = (open: OpenEngine): void => {
  it(verifies('R46', 'D8')('no statement of any verb reads all executions or all attempts'), async () => {
    const h = await openHouse(open);
    try {
      const a = await h.agent('a', { max_parallel_tasks: 9 });
      const key = { scope: 's', key: 'k', body_hash: 'h' };
      const e = await h.submit('a', { kind: 'chat' }, { idempotency: key, queue_budget_ms: 1_000 });
      await h.submit('a', { kind: 'chat', session_id: e.session_id, parent_execution_id: e.id });
      const parent = await h.start();
      await h.call(parent, 'a', { kind: 'chat' });
      await h.settle(await h.start(), { ...failed('overloaded'), decision: { kind: 'retry', after_ms: 5, why: 'x' } });
      const called = { execution_id: parent.execution.id, token: parent.token };
      const again = await h.submit('a', {}, { caller: called });
      await h.write('open_call', { call_id: 'k1', caller: called, child_ids: [again.id] });
      await h.write('abandon_call', { call_id: 'k1', caller_token: parent.token });
      await h.fanOut('a', 3, { id: 'f1', max_concurrency: 1, caller: called, open_call: 'k2' });
      await h.read('chain', { execution_id: again.id, limit: 2 });
      await h.read('waiting_since', { execution_id: parent.execution.id });
      await h.write('mark_attention', { execution_id: parent.execution.id, token: parent.token, attention: 'x' });
      await h.write('detach_call', { call_id: 'k2', caller_token: parent.token });
      await h.read('fan_out', { id: 'f1' });
      await h.read('caller', called);
      await h.write('cancel_fan_out', { id: 'f1', by: 'x', reason: null });
      h.pass(leaseMs);
      await h.write('reap', { lease_ms: leaseMs, grace_ms: 1e6, same_host: null, max: 9 });
      await h.write('give_back', { runner_id: 'r1', host: 'h1', claims: { not_in: [] } });
      await h.write('adopt_leases', { lease_ms: leaseMs });
      await h.write('renew', {
        runner_id: 'r1',
        room,
        lease_ms: leaseMs,
        attempts: [
          { attempt: parent.attempt_id, token: parent.token, proof: null, started_at: 1, cpu_ms: 1, rss_bytes: 1 },
        ],
      });
      await h.write('expire_budgets', { limits: h.limits, max: 9 });
      await h.write('cancel', { execution_id: parent.execution.id, by: 'x', reason: null });
      await h.settle(parent);
      await h.claim(9);
      for (const status of [undefined, ['queued' as const], ['success' as const, 'failed' as const]])
        for (const filter of [
          {},
          { agent_id: a.id },
          { cause: 'success' },
          { parent_execution_id: e.id },
          { before: 'x' },
        ]) {
          const f = { ...filter, ...(status ? { status } : {}), limit: 5 };
          await h.read('executions', f);
          await h.read('executions_with_texts', f);
        }
      for (const f of [{}, { agent_id: a.id }, { before: 'x', status: ['failed' as const] }])
        await h.read('search_executions', { ...f, search: '50%', text_chars: 9, limit: 5 });
      await h.read('executions', { oldest_first: true, status: ['queued'], before: '0', limit: 5 });
      await h.read('waits', {
        execution_ids: (await h.read('executions', { limit: 99 })).map((x) => x.id),
        limits: h.limits,
      });
      await h.read('occupancy', { limits: h.limits });
      await h.read('stats', { since: 5 });
      await h.read('long_waits', { older_than: h.now(), limits: h.limits, limit: 5 });
      await h.read('expired_leases', { steady: h.now() });
      await h.read('attempts_to_stop', { runner_id: 'r1' });
      await h.read('attempt_for_finish', { attempt_id: parent.attempt_id });
      await h.read('attempts', { execution_id: e.id });
      await h.read('judged', { since: 1, after: null, limit: 1 });
      await h.read('judged', { since: 1, after: { at: 5, id: 'x' }, limit: 9 });
      await h.read('invariants', { limits: h.limits });
      await h.write('retain', { events_before: 5, executions_before: 5, max: 9 });
      await h.write('update_agent', { id: a.id, patch: { desired_state: 'stopped' } });
      await h.write('clear_queue', { agent_id: a.id, by: 'x' });
      await h.write('delete_agent', { id: a.id, by: 'x' });
      for (const table of ['executions', 'attempts', 'calls'])
        expect(await h.engine.wholeTableReads(table)).toEqual([]);
    } finally {
      await h.end();
    }
  });
};
