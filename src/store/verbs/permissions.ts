/** Whom an agent may call, by id: an agent made again under a name inherits nothing (drill 36). No row = the default. */
import type { ReadVerb, WriteVerb } from '../tx.ts';

export const permissions: ReadVerb<'permissions'> = async (tx, { agent_id }) => {
  const row = await tx.db
    .selectFrom('call_permissions')
    .select('targets')
    .where('agent_id', '=', agent_id)
    .executeTakeFirst();
  return row === undefined ? null : (JSON.parse(row.targets) as string[]);
};

export const putPermissions: WriteVerb<'put_permissions'> = async (tx, { agent_id, targets }) => {
  await tx.db.deleteFrom('call_permissions').where('agent_id', '=', agent_id).execute();
  if (targets !== null)
    await tx.db
      .insertInto('call_permissions')
      .values({ agent_id, targets: JSON.stringify([...new Set(targets)].sort()) })
      .execute();
  return { ok: true };
};
