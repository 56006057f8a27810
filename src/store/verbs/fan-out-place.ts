/**
 * The places of a batch: at most `max_concurrency` of its executions stand in the queue or beyond; the rest stand behind, where no
 * claim looks. A place is held from the queue to the end, through waits and between attempts, and passes to the oldest behind.
 * It is safe to hold it through waiting: only items of the batch want it, and what an item calls is never one of them.
 */
import { lit, statement } from '../statement.ts';
import type { Tx } from '../tx.ts';
import { goFirst } from './session-turn.ts';

const nextItem = statement<{ fan_out_id: string }, { id: string; behind_ms: number; behind_since: number | null }>(
  (db, s) =>
    db
      .selectFrom('executions')
      .select(['id', 'behind_ms', 'behind_since'])
      .where('fan_out_id', '=', s.fan_out_id)
      .where('behind', '=', lit.one)
      .where('completed_at', 'is', null)
      .orderBy('id')
      .limit(lit.one),
);

/** Called by every ending, after the row has ended. */
export const passPlace = async (tx: Tx, ended: { fan_out_id: string | null; behind: 0 | 1 }): Promise<void> => {
  if (ended.fan_out_id === null || ended.behind === 1) return;
  const next = (await nextItem(tx, { fan_out_id: ended.fan_out_id })).rows[0];
  if (next) await goFirst(tx, next);
};
