/** People who are asked in, change their role, and go. What a person made stays: agents get another owner, the audit its names. */
import { refuse } from '../../contract/errors.ts';
import type { ReadVerb, WriteVerb } from '../tx.ts';
import { createUser } from './users.ts';

export const createInvite: WriteVerb<'create_invite'> = async (tx, { invite }) => {
  await tx.db.insertInto('invites').values(invite).execute();
  return invite;
};

export const deleteInvite: WriteVerb<'delete_invite'> = async (tx, { id }) => {
  const done = await tx.db.deleteFrom('invites').where('id', '=', id).executeTakeFirstOrThrow();
  return { deleted: Number(done.numDeletedRows) > 0 };
};

export const acceptInvite: WriteVerb<'accept_invite'> = async (tx, { hash, user }) => {
  const invite = await tx.db.selectFrom('invites').selectAll().where('hash', '=', hash).executeTakeFirst();
  if (!invite || invite.accepted_at !== null || invite.expires_at <= tx.at.now) return null;
  if (invite.username !== null && invite.username !== user.username)
    return refuse('invalid', `username: this invitation is for ${invite.username}.`);
  const made = await createUser(tx, {
    user: { ...user, role: invite.role, email: user.email ?? invite.email },
    ...tx.at,
  });
  if ('refused' in made) return made;
  await tx.db
    .updateTable('invites')
    .set({ accepted_at: tx.at.now, user_id: made.id })
    .where('id', '=', invite.id)
    .execute();
  return made;
};

export const changeUser: WriteVerb<'change_user'> = async (tx, { id, role, email }) => {
  const found = tx.db.selectFrom('users').selectAll().where('id', '=', id);
  if (!(await found.executeTakeFirst())) return null;
  if (role !== undefined) {
    await tx.db.updateTable('users').set({ role }).where('id', '=', id).execute();
    await tx.db.deleteFrom('logins').where('user_id', '=', id).execute();
  }
  if (email !== undefined) await tx.db.updateTable('users').set({ email }).where('id', '=', id).execute();
  return found.executeTakeFirstOrThrow();
};

export const deleteUser: WriteVerb<'delete_user'> = async (tx, { id, heir }) => {
  const gone = await tx.db.deleteFrom('users').where('id', '=', id).executeTakeFirstOrThrow();
  if (Number(gone.numDeletedRows) === 0) return { deleted: false, keys: 0, agents: 0 };
  await tx.db.deleteFrom('logins').where('user_id', '=', id).execute();
  const keys = await tx.db.deleteFrom('api_keys').where('user_id', '=', id).executeTakeFirstOrThrow();
  const agents = await tx.db
    .updateTable('agents')
    .set({ owner_id: heir })
    .where('owner_id', '=', id)
    .executeTakeFirstOrThrow();
  tx.stirred.agents_changed = true;
  return { deleted: true, keys: Number(keys.numDeletedRows), agents: Number(agents.numUpdatedRows) };
};

export const invites: ReadVerb<'invites'> = async (tx) =>
  tx.db.selectFrom('invites').selectAll().orderBy('id', 'desc').execute();

export const inviteByHash: ReadVerb<'invite_by_hash'> = async (tx, { hash }) =>
  (await tx.db.selectFrom('invites').selectAll().where('hash', '=', hash).executeTakeFirst()) ?? null;
