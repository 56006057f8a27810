/**
 * The first hook of every request: who is it, and may they use this route? 401 comes before 404 and before the body is
 * parsed; then 403 by what the route `needs`. Unsafe requests that are signed in by the page's cookie need the CSRF token
 * too: a cookie is sent by the browser whoever made the page, a header is not.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errors, refuse } from '../contract/errors.ts';
import type { Principal } from '../contract/principal.ts';
import type { Authenticator } from './auth.ts';
import { pathOf } from './errors.ts';
import { type Need, Refused } from './route.ts';
import { bearerOf } from './secrets.ts';

export const sessionCookie = 'drover_session';

export const isApiPath = (url: string): boolean => {
  const path = pathOf(url);
  return path === '/api' || path.startsWith('/api/') || path === '/mcp';
};

const may = (p: Principal, need: Need): boolean => {
  const isAgent = p.kind === 'agent' || p.kind === 'execution';
  const role = p.kind === 'user' ? p.role : null;
  switch (need) {
    case 'anyone':
    case 'page':
    case 'signed_in':
      return true;
    case 'read':
      return role !== null || isAgent;
    case 'submit':
      return role === 'owner' || role === 'operator' || isAgent;
    case 'view':
      return role !== null;
    case 'operate':
      return role === 'owner' || role === 'operator';
    case 'own':
      return role === 'owner';
    case 'run':
      return p.kind === 'runner';
    default:
      return need satisfies never;
  }
};

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

export const gate = (app: FastifyInstance, auth: Authenticator) => {
  app.decorateRequest('principal', null);
  app.decorateRequest('tokenHash', null);
  app.decorateRequest('byCookie', false);

  const checkCsrf = (request: FastifyRequest, reply: FastifyReply): Promise<void> =>
    new Promise((resolve) => app.csrfProtection(request, reply, resolve));

  app.addHook('onRequest', async (request, reply) => {
    const declared = request.is404 ? 'page' : (request.routeOptions.config.needs ?? 'own');
    const need = declared === 'page' ? (isApiPath(request.url) ? 'signed_in' : 'anyone') : declared;
    if (need === 'anyone') return;

    const bearer = bearerOf(request.headers.authorization);
    const cookie = bearer === null && !request.headers.authorization ? request.cookies[sessionCookie] : undefined;
    const token = bearer ?? cookie ?? null;
    const known = token === null ? null : await auth.principalOf(token);
    if (token === null) throw new Refused(refuse('unauthorized', errors.unauthorized.hint));
    if (known === null)
      throw new Refused(
        refuse(
          'unauthorized',
          `This ${cookie === undefined ? 'token' : 'session'} is not known: it has ended, was revoked, or is mistyped.`,
        ),
      );
    request.principal = known.principal;
    request.tokenHash = known.hash;
    request.byCookie = cookie !== undefined;
    if (request.byCookie && !safe.has(request.method)) await checkCsrf(request, reply);
    if (!may(known.principal, need)) throw new Refused(refuse('forbidden', errors.forbidden.hint));
  });
};
