/** Events in id order after one that was seen. `first` tells a reader that came too late: what it wants was deleted. */
import { sql } from 'kysely';
import type { ReadVerb } from '../tx.ts';

export const eventsAfter: ReadVerb<'events_after'> = async (tx, { after, limit }) => {
  const rows = await tx.db
    .selectFrom('events')
    .selectAll()
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
  const first = await tx.db.selectFrom('events').select(sql<number | null>`min(id)`.as('id')).executeTakeFirst();
  const last = await tx.db.selectFrom('events').select(sql<number | null>`max(id)`.as('id')).executeTakeFirst();
  return {
    events: rows.map((r) => ({
      id: r.id,
      at: r.at,
      type: r.type,
      execution_id: r.execution_id,
      agent_name: r.agent_name,
      data: JSON.parse(r.data) as Record<string, unknown>,
    })),
    first: first?.id ?? null,
    last: last?.id ?? 0,
  };
};
