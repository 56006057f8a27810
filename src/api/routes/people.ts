/** Who am I, who is there, and a new password for oneself. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { errors, refuse } from '../../contract/errors.ts';
import type { Principal } from '../../contract/principal.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import { checkNewPassword, checkPassword, hashPassword } from '../passwords.ts';
import { type ApiDeps, isoOrNull, orRefuse, Refused, type RouteModule, who } from '../route.ts';
import { startSession } from '../session.ts';

const tags = ['People'];
const User = z.object({ username: z.string(), email: z.string().nullable(), role: z.string() });
const Me = User.extend({ csrf_token: z.string().optional() });
const Listed = User.extend({ id: z.string(), created_at: z.string().nullable() });
const NewPassword = z.object({
  /** Not asked of the token in the owner's file: who has it may do everything, and a forgotten password has a way back. */
  current_password: z.string().nullish(),
  new_password: z.string(),
  confirm_password: z.string().nullish(),
});

/** As people know the caller; agents, executions and runners have no email and say what they are. */
const userBody = async (deps: ApiDeps, p: Principal): Promise<z.infer<typeof User>> => {
  if (p.kind === 'user') {
    const user = await deps.store.read('user', { id: p.id });
    return { username: p.name, email: user?.email ?? null, role: p.role };
  }
  return { username: p.kind === 'runner' ? p.id : p.name, email: null, role: p.kind };
};

export const peopleRoutes: RouteModule = (deps) => async (app) => {
  const byOwnersFile = async (request: FastifyRequest): Promise<boolean> =>
    (await deps.store.read('keys', {})).some(
      (k) => k.scope === 'owner' && k.revoked_at === null && k.hash === request.tokenHash,
    );

  app.get(
    '/api/auth/validate',
    {
      config: { needs: 'signed_in' },
      schema: { tags, summary: 'Is this token good?', response: { 200: z.object({ valid: z.boolean(), user: User }) } },
    },
    async (request) => ({ valid: true, user: await userBody(deps, who(request)) }),
  );

  app.get(
    '/api/users/me',
    { config: { needs: 'signed_in' }, schema: { tags, summary: 'Who am I', response: { 200: Me } } },
    async (request, reply) => ({
      ...(await userBody(deps, who(request))),
      ...(request.byCookie && { csrf_token: reply.generateCsrf({ userInfo: request.tokenHash ?? '' }) }),
    }),
  );

  app.get(
    '/api/users',
    {
      config: { needs: 'view' },
      schema: { tags, summary: 'The people of this fleet', response: { 200: z.array(Listed) } },
    },
    async () =>
      (await deps.store.read('users', {})).map((u) => ({
        id: u.id,
        username: u.username,
        email: u.email,
        role: u.role,
        created_at: isoOrNull(u.created_at),
      })),
  );

  app.post(
    '/api/password',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'Change your password; every other session of yours ends',
        body: NewPassword,
        response: {
          200: z.object({
            success: z.boolean(),
            access_token: z.string().optional(),
            token_type: z.string().optional(),
            csrf_token: z.string().optional(),
          }),
        },
      },
    },
    async (request, reply) => {
      const me = who(request);
      const user = me.kind === 'user' ? await deps.store.read('user', { id: me.id }) : null;
      const { current_password: current, new_password: fresh, confirm_password: repeated } = request.body;
      if (user === null) throw new Refused(refuse('forbidden', errors.forbidden.hint));
      if (user.password_hash === null)
        throw new Refused(refuse('setup_required', errors.setup_required.hint, { detail: 'setup_required' }));
      const known = current == null ? await byOwnersFile(request) : await checkPassword(current, user.password_hash);
      if (!known)
        throw new Refused(
          refuse(
            'bad_login',
            current == null
              ? 'Send current_password, or sign in with the token in DROVER_HOME/owner.token.'
              : 'The current password is not right.',
          ),
        );
      orRefuse(checkNewPassword(fresh, repeated ?? fresh));
      await commit(deps, 'set_password', {
        user_id: user.id,
        password_hash: await hashPassword(fresh, deps.kernel.random),
      });
      deps.auth.forget();
      await audit(deps, me, 'password.change', user.username);
      return { success: true, ...(await startSession(deps, request, reply, user)) };
    },
  );
};
