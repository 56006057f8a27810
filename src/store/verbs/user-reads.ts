/** People, by name, by id and by their sign-in. */
import type { ReadVerb } from '../tx.ts';

export const userByName: ReadVerb<'user_by_name'> = async (tx, { username }) =>
  (await tx.db.selectFrom('users').selectAll().where('username', '=', username).executeTakeFirst()) ?? null;

export const user: ReadVerb<'user'> = async (tx, { id }) =>
  (await tx.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;

export const users: ReadVerb<'users'> = async (tx) =>
  tx.db.selectFrom('users').selectAll().orderBy('username').execute();

export const login: ReadVerb<'login'> = async (tx, { hash }) => {
  const row = await tx.db.selectFrom('logins').selectAll().where('hash', '=', hash).executeTakeFirst();
  const of = row && (await tx.db.selectFrom('users').selectAll().where('id', '=', row.user_id).executeTakeFirst());
  return row && of ? { ...row, user: of } : null;
};
