/** Endings by state and cause, and what they cost; `since` is wall-clock ms of the ending, null = all that is kept. */
import { sql } from 'kysely';
import type { ReadVerb } from '../tx.ts';

export const stats: ReadVerb<'stats'> = async (tx, { since }) => {
  const ended = await tx.db
    .selectFrom('executions')
    .select(['status', 'cause', sql<number>`count(*)`.as('n'), sql<number | null>`sum(cost_usd)`.as('cost')])
    .where('completed_at', '>=', since ?? 0)
    .groupBy(['status', 'cause'])
    .execute();
  const open = await tx.db
    .selectFrom('executions')
    .select(['status', sql<number>`count(*)`.as('n')])
    .where('status', 'in', [sql.lit('queued' as const), sql.lit('running' as const), sql.lit('waiting' as const)])
    .groupBy('status')
    .execute();
  const by_status: Record<string, number> = {};
  const by_cause: Record<string, number> = {};
  let cost_usd = 0;
  for (const r of [...ended, ...open.map((o) => ({ ...o, cause: null, cost: null }))]) {
    by_status[r.status] = (by_status[r.status] ?? 0) + Number(r.n);
    if (r.cause !== null) by_cause[r.cause] = (by_cause[r.cause] ?? 0) + Number(r.n);
    cost_usd += r.cost ?? 0;
  }
  return { by_status, by_cause, cost_usd };
};
