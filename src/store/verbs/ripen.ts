/** Rows parked until a time (a retry, a known reset) go back to their lane when it has come: at the claim, by the steady clock. */
import { sql } from 'kysely';
import { lit, statement } from '../statement.ts';
import type { ReadTx, Tx } from '../tx.ts';
import { backlogGrew } from './backlog.ts';

/** So that ten thousand rows parked until one reset do not make one claim long; the next claim takes the next ones. */
const atOnce = 200;

// No status in these: the schema says that only queued rows are parked, and an equality on it made SQLite walk the index of
// all queued rows instead (7 ms at 20,000).

const ripe = statement<{ steady: number; most: number }, { id: string; agent_id: string }>((db, s) =>
  db
    .selectFrom('executions')
    .select(['id', 'agent_id'])
    .where('ripe_at', '<=', s.steady)
    .orderBy('ripe_at')
    .orderBy('id')
    .limit(s.most),
);
const release = statement<{ id: string }, unknown>((db, s) =>
  db
    .updateTable('executions')
    .set((eb) => ({
      not_before: sql.lit(null),
      ripe_at: sql.lit(null),
      lane: eb
        .case()
        .when('awaited', '=', lit.one)
        .then(sql.lit('nested' as const))
        .else(eb.ref('class'))
        .end(),
    }))
    .where('id', '=', s.id),
);
const nextRipe = statement<object, { ripe_at: number | null }>((db) =>
  db.selectFrom('executions').select('ripe_at').where('ripe_at', 'is not', null).orderBy('ripe_at').limit(lit.one),
);

export const ripen = async (tx: Tx): Promise<number> => {
  const { rows } = await ripe(tx, { steady: tx.at.steady, most: atOnce });
  for (const r of rows) {
    await release(tx, { id: r.id });
    backlogGrew(tx, r.agent_id);
  }
  return rows.length;
};

/** Steady time of the next one; null = none is parked. */
export const ripeNext = async (tx: ReadTx): Promise<number | null> => (await nextRipe(tx, {})).rows[0]?.ripe_at ?? null;
