/**
 * The people of the fleet: made, given another role, removed. `admin` stays an owner, since the token in the owner's file is its:
 * so there is always somebody who can let people in.
 */
import { z } from 'zod';
import { refuse } from '../../contract/errors.ts';
import { roles } from '../../contract/principal.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import type { UserRow } from '../../store/rows.ts';
import { ownerName } from '../first-start.ts';
import { checkNewPassword, hashPassword } from '../passwords.ts';
import { IdParams, iso, MessageBody, orNotFound, orRefuse, Refused, type RouteModule, who } from '../route.ts';

const tags = ['People'];
export const RoleBody = z.enum(roles);
/** What people type to sign in: no spaces, so that two names that look alike are few. */
export const Username = z
  .string()
  .trim()
  .regex(/^[A-Za-z0-9][\w.@+-]{0,63}$/, 'needs 1 to 64 letters, digits or . _ @ + -, beginning with a letter or digit');
export const Email = z.email().max(200);
const UserBody = z.object({
  id: z.string(),
  username: z.string(),
  email: z.string().nullable(),
  role: RoleBody,
  created_at: z.string(),
});
const presentUser = (u: UserRow): z.infer<typeof UserBody> => ({
  id: u.id,
  username: u.username,
  email: u.email,
  role: u.role,
  created_at: iso(u.created_at),
});

export const userRoutes: RouteModule = (deps) => async (app) => {
  /** By id or by name. */
  const find = async (idOrName: string): Promise<UserRow> =>
    orNotFound(
      (await deps.store.read('users', {})).find((u) => u.id === idOrName || u.username === idOrName) ?? null,
      'user',
    );
  const notTheOwner = (user: UserRow, what: string) => {
    if (user.username === ownerName)
      throw new Refused(
        refuse(
          'forbidden',
          `${ownerName} cannot be ${what}: the token in the owner's file is its, so that somebody always can let people in.`,
        ),
      );
  };

  app.post(
    '/api/users',
    {
      config: { needs: 'own' },
      schema: {
        tags,
        summary: 'Make a person with a password; better: POST /api/users/invites, so that nobody else knows it',
        body: z.object({
          username: Username,
          password: z.string(),
          confirm_password: z.string().nullish(),
          email: Email.nullish(),
          role: RoleBody.default('operator'),
        }),
        response: { 201: UserBody },
      },
    },
    async (request, reply) => {
      const { username, password, confirm_password, email, role } = request.body;
      orRefuse(checkNewPassword(password, confirm_password ?? password));
      const now = deps.kernel.clock.now();
      const user = orRefuse(
        await commit(deps, 'create_user', {
          user: {
            id: deps.kernel.ids.next(now),
            username,
            email: email ?? null,
            role,
            password_hash: await hashPassword(password, deps.kernel.random),
            created_at: now,
          },
        }),
      );
      await audit(deps, who(request), 'user.create', username, { role });
      return reply.code(201).send(presentUser(user));
    },
  );

  app.put(
    '/api/users/:id',
    {
      config: { needs: 'own' },
      schema: {
        tags,
        summary: 'Another role or address; a new role ends the sign-ins of that person',
        params: IdParams,
        body: z.object({ role: RoleBody.optional(), email: Email.nullable().optional() }),
        response: { 200: UserBody },
      },
    },
    async (request) => {
      const user = await find(request.params.id);
      const { role, email } = request.body;
      const newRole = role === user.role ? undefined : role;
      if (newRole !== undefined) notTheOwner(user, 'given another role');
      const changed = orNotFound(
        await commit(deps, 'change_user', {
          id: user.id,
          ...(newRole !== undefined && { role: newRole }),
          ...(email !== undefined && { email }),
        }),
        'user',
      );
      deps.auth.forget();
      await audit(deps, who(request), 'user.change', user.username, {
        ...(newRole !== undefined && { role: newRole, before: user.role }),
        ...(email !== undefined && { email: true }),
      });
      return presentUser(changed);
    },
  );

  app.delete(
    '/api/users/:id',
    {
      config: { needs: 'own' },
      schema: {
        tags,
        summary: 'Remove a person: sign-ins and keys end at once, agents go to you',
        params: IdParams,
        response: { 200: MessageBody.extend({ keys: z.number(), agents: z.number() }) },
      },
    },
    async (request) => {
      const user = await find(request.params.id);
      const me = who(request);
      notTheOwner(user, 'removed');
      const heir = me.kind === 'user' && me.id !== user.id ? me.id : (await find(ownerName)).id;
      const { keys, agents } = await commit(deps, 'delete_user', { id: user.id, heir });
      deps.auth.forget();
      await audit(deps, me, 'user.delete', user.username, { role: user.role, keys, agents });
      return { message: `${user.username} is removed.`, keys, agents };
    },
  );

  app.post(
    '/api/users/:id/password',
    {
      config: { needs: 'own' },
      schema: {
        tags,
        summary: 'A new password for somebody who forgot it; every session of that person ends',
        params: IdParams,
        body: z.object({ new_password: z.string() }),
        response: { 200: MessageBody },
      },
    },
    async (request) => {
      const user = await find(request.params.id);
      orRefuse(checkNewPassword(request.body.new_password, request.body.new_password));
      const password_hash = await hashPassword(request.body.new_password, deps.kernel.random);
      await commit(deps, 'set_password', { user_id: user.id, password_hash });
      deps.auth.forget();
      await audit(deps, who(request), 'user.password', user.username);
      return { message: `${user.username} has a new password; every session of before has ended.` };
    },
  );
};
