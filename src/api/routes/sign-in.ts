/**
 * Signing in and out. `/token` gives a session token for the Authorization header; with `X-Drover-Session: cookie` (the
 * page) the session becomes an HttpOnly cookie that no script reads, and the answer carries the CSRF token instead.
 * Failed sign-ins are counted per address: above 10 a minute the address waits, so that guessing costs more than it yields.
 */
import formbody from '@fastify/formbody';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { errors, type Refusal, refuse } from '../../contract/errors.ts';
import { commit } from '../../record/commit.ts';
import type { UserRow } from '../../store/rows.ts';
import { sessionCookie } from '../gate.ts';
import { checkPassword } from '../passwords.ts';
import { anonymousBytes, formType, orRefuse, Refused, type RouteModule } from '../route.ts';
import { startSession } from '../session.ts';
import { setupCompleted } from './setup.ts';

const tags = ['Health and set-up'];
const failuresPerMinute = 10;

const Login = z.object({ username: z.string(), password: z.string() });
const Token = z.object({
  access_token: z.string().optional(),
  token_type: z.enum(['bearer', 'cookie']),
  csrf_token: z.string().optional(),
});
const Mode = z.object({
  mode: z.literal('password'),
  setup_completed: z.boolean(),
  password_login: z.boolean(),
  email_auth_enabled: z.boolean(),
});

export const signInRoutes: RouteModule = (deps) => async (app) => {
  const failures = app.createRateLimit({ max: failuresPerMinute, timeWindow: 60_000 });
  /** Being checked, per address: guesses sent side by side are counted before the first of them has failed. */
  const checking = new Map<string, number>();

  const userOf = async (username: string, password: string): Promise<UserRow | Refusal> => {
    if (!(await setupCompleted(deps)))
      return refuse('setup_required', errors.setup_required.hint, { detail: 'setup_required' });
    const user = await deps.store.read('user_by_name', { username });
    const right = await checkPassword(password, user?.password_hash ?? null);
    return right && user !== null ? user : refuse('bad_login', errors.bad_login.hint);
  };

  const token = async (request: FastifyRequest<{ Body: z.infer<typeof Login> }>, reply: FastifyReply) => {
    const before = await failures(request, { increment: false });
    const beside = checking.get(request.ip) ?? 0;
    if (!before.isAllowed && before.remaining <= beside)
      throw new Refused(
        before.remaining === 0
          ? refuse('rate_limited', 'Too many failed sign-ins. Wait a minute.', { retryAfterMs: before.ttl })
          : refuse('rate_limited', 'Too many sign-ins at once. Wait a moment.', { retryAfterMs: 1_000 }),
      );
    checking.set(request.ip, beside + 1);
    try {
      const user = await userOf(request.body.username, request.body.password);
      if ('refused' in user && user.code === 'bad_login') await failures(request);
      return await startSession(deps, request, reply, orRefuse(user));
    } finally {
      const left = checking.get(request.ip)! - 1;
      if (left === 0) checking.delete(request.ip);
      else checking.set(request.ip, left);
    }
  };

  await app.register(async (withForms) => {
    withForms.removeContentTypeParser(formType);
    await withForms.register(formbody);
    for (const url of ['/token', '/api/token'])
      withForms.post(
        url,
        {
          config: { needs: 'anyone' },
          bodyLimit: anonymousBytes,
          schema: { tags, summary: 'Sign in (form or JSON)', body: Login, response: { 200: Token } },
        },
        token,
      );
  });

  app.get(
    '/api/auth/mode',
    { config: { needs: 'anyone' }, schema: { tags, summary: 'What login is offered', response: { 200: Mode } } },
    async () => {
      const completed = await setupCompleted(deps);
      return {
        mode: 'password' as const,
        setup_completed: completed,
        password_login: completed,
        email_auth_enabled: false,
      };
    },
  );

  app.post(
    '/api/logout',
    {
      config: { needs: 'signed_in' },
      schema: {
        tags,
        summary: 'End this session; API keys stay',
        response: { 200: z.object({ success: z.boolean() }) },
      },
    },
    async (request, reply) => {
      if (request.tokenHash !== null) await commit(deps, 'delete_login', { hash: request.tokenHash });
      deps.auth.forget();
      reply.clearCookie(sessionCookie, { path: '/' });
      return { success: true };
    },
  );
};
