/** Who did what, in the order of its ids. Append only. */
import type { ReadVerb, WriteVerb } from '../tx.ts';

export const audit: WriteVerb<'audit'> = async (tx, { id, by, action, target, data }) => {
  await tx.db
    .insertInto('audit')
    .values({ id, at: tx.at.now, by_whom: by, action, target, data: JSON.stringify(data) })
    .execute();
  return { ok: true };
};

/** `action` may be the noun alone (`schedule`): all that was done to things of that kind. */
export const auditLog: ReadVerb<'audit_log'> = async (tx, { limit, before, by, action, target, since, until }) => {
  let rows = tx.db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(limit);
  if (before !== null) rows = rows.where('id', '<', before);
  if (by !== undefined) rows = rows.where('by_whom', '=', by);
  if (action !== undefined)
    rows = action.includes('.')
      ? rows.where('action', '=', action)
      : rows.where('action', '>=', `${action}.`).where('action', '<', `${action}/`);
  if (target !== undefined) rows = rows.where('target', '=', target);
  if (since !== undefined) rows = rows.where('at', '>=', since);
  if (until !== undefined) rows = rows.where('at', '<', until);
  return (await rows.execute()).map((r) => ({
    id: r.id,
    at: r.at,
    by: r.by_whom,
    action: r.action,
    target: r.target,
    data: JSON.parse(r.data) as Record<string, unknown>,
  }));
};
