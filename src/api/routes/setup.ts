/**
 * The first visit: whoever can read `DROVER_HOME/owner.token` gives `admin` its password, once. Being on loopback is no
 * proof (a reverse proxy makes the world loopback); DROVER_OPEN_SETUP=1 waives the token, for test benches, with a warning.
 */
import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { errors, refuse } from '../../contract/errors.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import type { UserRow } from '../../store/rows.ts';
import { ownerName, ownerTokenPath } from '../first-start.ts';
import { checkNewPassword, hashPassword } from '../passwords.ts';
import { type ApiDeps, anonymousBytes, orNotFound, orRefuse, Refused, type RouteModule } from '../route.ts';
import { hashToken } from '../secrets.ts';

const tags = ['Health and set-up'];
const Status = z.object({ setup_completed: z.boolean(), owner_token_file: z.string().optional() });
const AdminPassword = z.object({
  password: z.string(),
  confirm_password: z.string(),
  setup_token: z.string().nullish(),
});

export const setupCompleted = async (deps: Pick<ApiDeps, 'store'>): Promise<boolean> =>
  ((await deps.store.read('user_by_name', { username: ownerName }))?.password_hash ?? null) !== null;

export const setupRoutes: RouteModule = (deps) => async (app) => {
  const { home, openSetup } = deps.config;
  if (openSetup)
    deps.kernel.log.warn(
      'DROVER_OPEN_SETUP=1: anyone who reaches this server may set the admin password. For benches only.',
    );

  app.get(
    '/api/setup/status',
    { config: { needs: 'anyone' }, schema: { tags, summary: 'Is the admin password set?', response: { 200: Status } } },
    async () =>
      (await setupCompleted(deps))
        ? { setup_completed: true }
        : { setup_completed: false, owner_token_file: ownerTokenPath(home) },
  );

  app.post(
    '/api/setup/admin-password',
    {
      config: { needs: 'anyone' },
      bodyLimit: anonymousBytes,
      schema: {
        tags,
        summary: 'Set the admin password, once',
        body: AdminPassword,
        response: { 200: z.object({ success: z.boolean() }) },
      },
    },
    async (request) => {
      const admin = orNotFound(await deps.store.read('user_by_name', { username: ownerName }), 'owner');
      if (admin.password_hash !== null) throw new Refused(completed());
      const given = request.body.setup_token ?? request.headers['x-setup-token']?.toString() ?? '';
      if (!openSetup && !(await isOwnerToken(given)))
        throw new Refused(
          refuse(
            'setup_token_required',
            given === ''
              ? `Send the token in ${ownerTokenPath(home)} as setup_token or X-Setup-Token.`
              : `This is not the token in ${ownerTokenPath(home)}.`,
          ),
        );
      orRefuse(checkNewPassword(request.body.password, request.body.confirm_password));
      await setFirstPassword(admin, request.body.password);
      return { success: true };
    },
  );

  const completed = () => refuse('setup_completed', errors.setup_completed.hint);

  const isOwnerToken = async (token: string): Promise<boolean> => {
    const given = Buffer.from(hashToken(token));
    const keys = await deps.store.read('keys', {});
    return keys.some(
      (k) => k.scope === 'owner' && k.revoked_at === null && timingSafeEqual(Buffer.from(k.hash), given),
    );
  };

  const setFirstPassword = async (admin: UserRow, password: string) => {
    const password_hash = await hashPassword(password, deps.kernel.random);
    const { ok } = await commit(deps, 'set_password', { user_id: admin.id, password_hash, first: true });
    if (!ok) throw new Refused(completed());
    deps.auth.forget();
    const by = { kind: 'user', id: admin.id, name: admin.username, role: admin.role } as const;
    await audit(deps, by, 'setup.complete', admin.username);
  };
};
