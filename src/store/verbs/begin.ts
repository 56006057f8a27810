/**
 * The second gate, before the spawn: a compare-and-set with the token that refuses cancelled and reaped rows and renews the lease
 * (F7). From here a process may exist, so the row is never queued again for free. The same question twice has the same answer.
 */
import { statement } from '../statement.ts';
import type { WriteVerb } from '../tx.ts';

interface Known {
  begun_at: number | null;
  ended_at: number | null;
  token: string;
  status: string;
  current: string | null;
  cancel_requested_at: number | null;
}
const find = statement<{ id: string }, Known>((db, s) =>
  db
    .selectFrom('attempts')
    .innerJoin('executions', 'executions.id', 'attempts.execution_id')
    .select([
      'attempts.begun_at',
      'attempts.ended_at',
      'attempts.token',
      'executions.status',
      'executions.token as current',
      'executions.cancel_requested_at',
    ])
    .where('attempts.id', '=', s.id),
);
const go = statement<{ id: string; begun_at: number; lease_until: number }, unknown>((db, s) =>
  db
    .updateTable('attempts')
    .set({ begun_at: s.begun_at, lease_until: s.lease_until })
    .where('id', '=', s.id)
    .where('ended_at', 'is', null),
);

export const begin: WriteVerb<'begin'> = async (tx, { attempt_id, token, lease_ms }) => {
  const a = (await find(tx, { id: attempt_id })).rows[0];
  if (!a || a.token !== token) return { go: false, why: 'unknown' };
  if (a.status === 'cancelled' || a.cancel_requested_at !== null) return { go: false, why: 'cancelled' };
  if (a.current !== token || a.ended_at !== null) return { go: false, why: 'reaped' };
  await go(tx, { id: attempt_id, begun_at: a.begun_at ?? tx.at.now, lease_until: tx.at.steady + lease_ms });
  return { go: true, why: null };
};
