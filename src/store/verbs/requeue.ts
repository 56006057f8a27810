/**
 * Back to the queue between attempts: a retry, a wait for a known reset, or a claim that was never begun. The row keeps its
 * chat session and its budget; waiting for a time does not spend the budget (R12). Its open calls end with the attempt.
 */
import type { Tx } from '../tx.ts';
import { backlogGrew } from './backlog.ts';
import { dropCallsOf } from './end.ts';
import { tell } from './events.ts';
import type { Row } from './execution-row.ts';

export const requeue = async (
  tx: Tx,
  row: Row,
  { afterMs, why, more = {} }: { afterMs: number; why: string; more?: Partial<Row> },
): Promise<void> => {
  const { now, steady } = tx.at;
  const eligible_at = steady + afterMs;
  await dropCallsOf(tx, row);
  await tx.db
    .updateTable('executions')
    .set({
      ...more,
      status: 'queued',
      token: null,
      runner_id: null,
      // What it goes on with, while that is good.
      credential_id: more.credential_id ?? null,
      started_at: null,
      waiting_since: null,
      silent: 0,
      since_at: now,
      eligible_at,
      expires_at: row.queue_budget_ms === null ? null : eligible_at + Math.max(0, row.queue_budget_ms - row.waited_ms),
      not_before: afterMs > 0 ? now + afterMs : null,
      ripe_at: afterMs > 0 ? eligible_at : null,
      lane: afterMs > 0 ? null : row.awaited === 1 ? 'nested' : row.class,
    })
    .where('id', '=', row.id)
    .execute();
  if (row.attempt_id !== null)
    await tx.db
      .updateTable('attempts')
      .set({ ended_at: now })
      .where('id', '=', row.attempt_id)
      .where('ended_at', 'is', null)
      .execute();
  await tell(tx, {
    type: 'execution.requeued',
    execution_id: row.id,
    agent_name: row.agent_name,
    data: { why, not_before: afterMs > 0 ? now + afterMs : null },
  });
  if (afterMs <= 0) backlogGrew(tx, row.agent_id);
  tx.stirred.claimable = true;
  tx.stirred.requeued.push(row.id);
};
