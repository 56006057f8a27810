/**
 * Open calls: one row per child that an attempt waits for. They belong to an attempt (F9): what an old attempt asked for wakes no
 * newer one. Only statements stand here; what follows from the end of a caller is `end.ts`.
 */
import { sql } from 'kysely';
import { lit, statement } from '../statement.ts';
import type { Tx } from '../tx.ts';

const closeChild = statement<{ child_id: string; now: number }, unknown>((db, s) =>
  db.updateTable('calls').set({ closed_at: s.now }).where('child_id', '=', s.child_id).where('closed_at', 'is', null),
);
const closeCaller = statement<{ execution_id: string; now: number }, unknown>((db, s) =>
  db
    .updateTable('calls')
    .set({ closed_at: s.now })
    .where('execution_id', '=', s.execution_id)
    .where('closed_at', 'is', null),
);
const openChildren = statement<{ execution_id: string }, { child_id: string }>((db, s) =>
  db
    .selectFrom('calls')
    .select('child_id')
    .distinct()
    .where('execution_id', '=', s.execution_id)
    .where('closed_at', 'is', null),
);
const openOfToken = statement<{ execution_id: string; token: string }, { call_id: string }>((db, s) =>
  db
    .selectFrom('calls')
    .select('call_id')
    .where('execution_id', '=', s.execution_id)
    .where('token', '=', s.token)
    .where('closed_at', 'is', null)
    .limit(lit.one),
);
const openOnChild = statement<{ child_id: string }, { call_id: string }>((db, s) =>
  db
    .selectFrom('calls')
    .select('call_id')
    .where('child_id', '=', s.child_id)
    .where('closed_at', 'is', null)
    .limit(lit.one),
);
const setAwaited = statement<{ id: string; awaited: 0 | 1 }, unknown>((db, s) =>
  db
    .updateTable('executions')
    .set((eb) => ({
      awaited: s.awaited,
      lane: eb
        .case()
        .when('lane', 'is', null)
        .then(sql.lit(null))
        .when(sql`${s.awaited}`, '=', lit.one)
        .then(sql.lit('nested' as const))
        .else(eb.ref('class'))
        .end(),
    }))
    .where('id', '=', s.id)
    .where('completed_at', 'is', null),
);

const closeOthers = statement<{ child_id: string; token: string; call_id: string; now: number }, unknown>((db, s) =>
  db
    .updateTable('calls')
    .set({ closed_at: s.now })
    .where('child_id', '=', s.child_id)
    .where('token', '=', s.token)
    .where('call_id', '!=', s.call_id)
    .where('closed_at', 'is', null),
);

/** Of the calls by which one attempt waits for a child, all but this one are over. */
export const leaveToOne = async (
  tx: Tx,
  args: { child_id: string; token: string; call_id: string; now: number },
): Promise<void> => {
  await closeOthers(tx, args);
};

export const closeCallsOn = async (tx: Tx, child_id: string): Promise<void> => {
  await closeChild(tx, { child_id, now: tx.at.now });
};

export const hasOpenCalls = async (tx: Tx, execution_id: string, token: string): Promise<boolean> =>
  (await openOfToken(tx, { execution_id, token })).rows.length > 0;

/** Nested is who is waited for now, not who was born so (F3): follows the open calls. */
export const markAwaited = async (tx: Tx, child_id: string): Promise<void> => {
  const open = (await openOnChild(tx, { child_id })).rows.length > 0;
  await setAwaited(tx, { id: child_id, awaited: open ? 1 : 0 });
};

/** Children that the row waits for now, by whichever attempt. */
export const waitedFor = async (tx: Tx, execution_id: string): Promise<string[]> =>
  (await openChildren(tx, { execution_id })).rows.map((r) => r.child_id);

export const closeCallsOf = async (tx: Tx, execution_id: string): Promise<void> => {
  await closeCaller(tx, { execution_id, now: tx.at.now });
};
