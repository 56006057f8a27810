/** What agents may log in with. The secret comes sealed and leaves sealed; a deleted one is taken off its agents at once. */
import { refuse } from '../../contract/errors.ts';
import type { ReadVerb, WriteVerb } from '../tx.ts';
import { tell } from './events.ts';
import { takeResumes } from './take-resumes.ts';

/** The same id again replaces what people set (secret, name, limits) and begins a new record of its state. */
export const putCredential: WriteVerb<'put_credential'> = async (tx, { credential: c }) => {
  const taken = await tx.db
    .selectFrom('credentials')
    .select('id')
    .where('name', '=', c.name)
    .where('id', '!=', c.id)
    .executeTakeFirst();
  if (taken) return refuse('duplicate', `A credential named ${c.name} exists already.`);
  const columns = {
    name: c.name,
    kind: c.kind,
    sealed: c.sealed,
    max_parallel: c.max_parallel,
    pool: c.pool,
    state: c.state,
    until: c.until,
    last_evidence: c.last_evidence,
    last_used_at: c.last_used_at,
    created_at: c.created_at,
  };
  const known = await tx.db.selectFrom('credentials').select('id').where('id', '=', c.id).executeTakeFirst();
  if (known) await tx.db.updateTable('credentials').set(columns).where('id', '=', c.id).execute();
  else
    await tx.db
      .insertInto('credentials')
      .values({ id: c.id, ...columns })
      .execute();
  await tell(tx, { type: 'credential.changed', data: { credential_id: c.id, name: c.name, state: c.state } });
  // Work that waited for a credential, or for room in its cap, may run now; resumes first.
  tx.stirred.claimable = true;
  await takeResumes(tx);
  return c;
};

export const deleteCredential: WriteVerb<'delete_credential'> = async (tx, { id }) => {
  const { numDeletedRows } = await tx.db.deleteFrom('credentials').where('id', '=', id).executeTakeFirstOrThrow();
  if (Number(numDeletedRows) === 0) return { deleted: false };
  await tx.db.updateTable('agents').set({ credential_id: null }).where('credential_id', '=', id).execute();
  tx.stirred.agents_changed = true;
  await tell(tx, { type: 'credential.changed', data: { credential_id: id, deleted: true } });
  tx.stirred.claimable = true;
  await takeResumes(tx);
  return { deleted: true };
};

export const resealCredential: WriteVerb<'reseal_credential'> = async (tx, { id, before, after }) => {
  const { numUpdatedRows } = await tx.db
    .updateTable('credentials')
    .set({ sealed: after })
    .where('id', '=', id)
    .where('sealed', '=', before)
    .executeTakeFirstOrThrow();
  return { done: Number(numUpdatedRows) === 1 };
};

export const credentials: ReadVerb<'credentials'> = async (tx) =>
  tx.db.selectFrom('credentials').selectAll().orderBy('name').execute();

export const credentialEvents: ReadVerb<'credential_events'> = async (tx, { limit }) =>
  tx.db.selectFrom('credential_events').selectAll().orderBy('id', 'desc').limit(limit).execute();
