/** People and their sign-ins. A new password ends every sign-in of that person in the same transaction. */
import { refuse } from '../../contract/errors.ts';
import type { WriteVerb } from '../tx.ts';

export const createUser: WriteVerb<'create_user'> = async (tx, { user }) => {
  const taken = await tx.db.selectFrom('users').select('id').where('username', '=', user.username).executeTakeFirst();
  if (taken) return refuse('duplicate', `A user named ${user.username} exists already.`);
  await tx.db
    .insertInto('users')
    .values({
      id: user.id,
      username: user.username,
      email: user.email,
      role: user.role,
      password_hash: user.password_hash,
      created_at: user.created_at,
    })
    .execute();
  return user;
};

export const setPassword: WriteVerb<'set_password'> = async (tx, { user_id, password_hash, first }) => {
  let change = tx.db.updateTable('users').set({ password_hash }).where('id', '=', user_id);
  // Two set-ups at once: the second one finds a password and changes nothing.
  if (first) change = change.where('password_hash', 'is', null);
  const { numUpdatedRows } = await change.executeTakeFirstOrThrow();
  if (Number(numUpdatedRows) === 0) return { ok: false };
  await tx.db.deleteFrom('logins').where('user_id', '=', user_id).execute();
  return { ok: true };
};

export const createLogin: WriteVerb<'create_login'> = async (tx, { login }) => {
  // The sign-ins of one person are few: those that have run out go when a new one comes.
  await tx.db.deleteFrom('logins').where('user_id', '=', login.user_id).where('expires_at', '<=', tx.at.now).execute();
  await tx.db
    .insertInto('logins')
    .values({
      hash: login.hash,
      user_id: login.user_id,
      created_at: login.created_at,
      expires_at: login.expires_at,
    })
    .execute();
  return { ok: true };
};

export const deleteLogin: WriteVerb<'delete_login'> = async (tx, { hash }) => {
  await tx.db.deleteFrom('logins').where('hash', '=', hash).execute();
  return { ok: true };
};
