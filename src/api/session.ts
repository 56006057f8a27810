/** A session of a person: an opaque token, stored as its hash, for a week. Handed out as a bearer token or as a cookie. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../flow/deps.ts';
import { commit } from '../record/commit.ts';
import type { UserRow } from '../store/rows.ts';
import { sessionCookie } from './gate.ts';
import { hashToken, newSessionToken } from './secrets.ts';

const sessionMs = 7 * 86_400_000;

interface SessionBody {
  access_token?: string;
  token_type: 'bearer' | 'cookie';
  csrf_token?: string;
}

/** A page that cannot set this header (another site's form) gets no cookie. */
const wantsCookie = (request: FastifyRequest): boolean => request.headers['x-drover-session'] === 'cookie';

export const startSession = async (
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  user: UserRow,
): Promise<SessionBody> => {
  const now = deps.kernel.clock.now();
  const token = newSessionToken(deps.kernel.random);
  const hash = hashToken(token);
  await commit(deps, 'create_login', {
    login: { hash, user_id: user.id, created_at: now, expires_at: now + sessionMs },
  });
  if (!wantsCookie(request)) return { access_token: token, token_type: 'bearer' };
  reply.setCookie(sessionCookie, token, {
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: 'auto',
    maxAge: sessionMs / 1000,
  });
  return { token_type: 'cookie', csrf_token: reply.generateCsrf({ userInfo: hash }) };
};
