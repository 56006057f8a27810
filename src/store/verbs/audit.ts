/** Who did what, in the order of its ids. Append only. */
import type { ReadVerb, WriteVerb } from '../tx.ts';

export const audit: WriteVerb<'audit'> = async (tx, { id, by, action, target, data }) => {
  await tx.db
    .insertInto('audit')
    .values({ id, at: tx.at.now, by_whom: by, action, target, data: JSON.stringify(data) })
    .execute();
  return { ok: true };
};

export const auditLog: ReadVerb<'audit_log'> = async (tx, { limit, before }) => {
  let rows = tx.db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(limit);
  if (before !== null) rows = rows.where('id', '<', before);
  return (await rows.execute()).map((r) => ({
    id: r.id,
    at: r.at,
    by: r.by_whom,
    action: r.action,
    target: r.target,
    data: JSON.parse(r.data) as Record<string, unknown>,
  }));
};
