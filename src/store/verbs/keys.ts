/** Keys of people, agents and runners. A revoked key keeps its row, so that people see that it was; a removed one is gone. */
import type { ReadVerb, WriteVerb } from '../tx.ts';

export const createKey: WriteVerb<'create_key'> = async (tx, { key }) => {
  await tx.db
    .insertInto('api_keys')
    .values({
      id: key.id,
      name: key.name,
      description: key.description,
      prefix: key.prefix,
      hash: key.hash,
      scope: key.scope,
      user_id: key.user_id,
      agent_id: key.agent_id,
      created_at: key.created_at,
      last_used_at: key.last_used_at,
      revoked_at: key.revoked_at,
    })
    .execute();
  return key;
};

export const touchKey: WriteVerb<'touch_key'> = async (tx, { id }) => {
  await tx.db.updateTable('api_keys').set({ last_used_at: tx.at.now }).where('id', '=', id).execute();
  return { ok: true };
};

export const revokeKey: WriteVerb<'revoke_key'> = async (tx, { id, remove }) => {
  const found = await tx.db.selectFrom('api_keys').select('revoked_at').where('id', '=', id).executeTakeFirst();
  if (!found) return { found: false };
  if (remove) await tx.db.deleteFrom('api_keys').where('id', '=', id).execute();
  else if (found.revoked_at === null)
    await tx.db.updateTable('api_keys').set({ revoked_at: tx.at.now }).where('id', '=', id).execute();
  return { found: true };
};

export const keyByHash: ReadVerb<'key_by_hash'> = async (tx, { hash }) =>
  (await tx.db.selectFrom('api_keys').selectAll().where('hash', '=', hash).executeTakeFirst()) ?? null;

export const keys: ReadVerb<'keys'> = async (tx) => tx.db.selectFrom('api_keys').selectAll().orderBy('id').execute();
