/**
 * The HTTP server as a value: plugins, the gate, body parsers, error bodies and all routes, from what it is handed. It opens
 * no port and reads no world, so tests inject requests and main.ts listens. Nothing in a request's way runs SQL, hashes a
 * password on the event loop, or waits for an agent.
 */
import cookie from '@fastify/cookie';
import csrf from '@fastify/csrf-protection';
import rateLimit from '@fastify/rate-limit';
import Fastify, { type FastifyInstance } from 'fastify';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { errors, Fault, type Refusal, refuse } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import { problemInWords } from '../contract/problem-words.ts';
import { version } from '../contract/version.ts';
import { watchLoopLag } from '../kernel/loop-lag.ts';
import { createAuthenticator } from './auth.ts';
import { errorHandler, pathOf, presentRefusal } from './errors.ts';
import { gate, isApiPath } from './gate.ts';
import { methodsAt } from './methods-at.ts';
import { openApiOf, recordRoutes } from './openapi.ts';
import { type ApiDeps, type AppDeps, formType } from './route.ts';
import { docsPage } from './routes/docs.ts';
import { page } from './routes/page.ts';
import { routes } from './routes.ts';

/** A message of control characters takes six bytes a character in JSON: what admission would accept must get that far. */
const bodyBytes = 6 * limits.messageBytes + 1024 * 1024;

export const buildApp = async (given: AppDeps): Promise<FastifyInstance> => {
  z.config({ customError: problemInWords });
  const lag = watchLoopLag(given.kernel.clock);
  const deps: ApiDeps = { ...given, lag, auth: createAuthenticator(given) };
  const app = Fastify({
    logger: false,
    bodyLimit: bodyBytes,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    genReqId: requestIds(deps.kernel),
    // Slow senders: a request that is not complete after two minutes is dropped. Says nothing about slow answers.
    requestTimeout: 120_000,
    // A path that cannot be decoded, or has a part of more than 500 characters, names nothing that exists.
    frameworkErrors: (_error, request, reply) => {
      const bare = request.headers.authorization === undefined && request.headers.cookie === undefined;
      presentRefusal(
        reply,
        bare && isApiPath(request.url) ? refuse('unauthorized', errors.unauthorized.hint) : nothingAt(request),
      );
    },
    // Open streams end in the preClose hooks of their routes; what is left after those is cut.
    forceCloseConnections: true,
    // Left out, Fastify loads its own compilers of JSON schemas, a sixth of this server's code, and never uses them.
    schemaController: { compilersFactory: { buildValidator: notUsed, buildSerializer: notUsed } },
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(errorHandler(deps.kernel.log));
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request.url);
    const methods = methodsAt(known, path);
    if (methods.length === 0 || !isApiPath(path)) return presentRefusal(reply, nothingAt(request));
    reply.header('allow', methods.join(', '));
    const words = `${path.slice(0, 200)} knows no ${request.method}; it takes ${methods.join(', ')}.`;
    return presentRefusal(reply, refuse('method_not_allowed', words));
  });

  app.removeAllContentTypeParsers();
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) return done(null, {});
    parseJson(request, body as string, done);
  });
  // fetch names text/plain for a body of nothing, `curl -d ''` a form. A form with something in it is for the sign-in alone.
  app.addContentTypeParser(['text/plain', formType], { parseAs: 'string' }, (_request, body, done) =>
    body.length === 0
      ? done(null, {})
      : done(Object.assign(new Error('no JSON'), { statusCode: 415, code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' })),
  );
  await app.register(cookie);
  await app.register(csrf, {
    cookieKey: 'drover_csrf',
    cookieOpts: { path: '/', sameSite: 'strict', httpOnly: true },
    // Bound to the session: a token of one sign-in is no good in another. The key dies with the process, sign-ins go on:
    // the page fetches a new token from /api/users/me.
    csrfOpts: { userInfo: true, hmacKey: Buffer.from(deps.kernel.random.bytes(32)).toString('base64url') },
    getUserInfo: (request) => request.tokenHash ?? '',
    getToken: (request) => request.headers['x-csrf-token']?.toString(),
  });
  await app.register(rateLimit, { global: false });

  drainOnClose(app, deps);
  app.addHook('onClose', async () => lag.stop());
  gate(app, deps.auth);
  app.addHook('onSend', (request, reply, _payload, done) => {
    reply.header('x-content-type-options', 'nosniff');
    if (!reply.hasHeader('cache-control') && request.routeOptions.config.needs !== 'page')
      reply.header('cache-control', 'no-store');
    done();
  });
  // A body is optional wherever no field of it is required: nothing sent is an empty object.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.body == null && request.routeOptions.schema?.body !== undefined) request.body = {};
    done();
  });

  const known = recordRoutes(app);
  for (const module of routes) await app.register(module(deps));
  const document = openApiOf(known, version);
  await app.register(docsPage(document));
  await app.register(page(deps));
  return app;
};

const notUsed = (): never => {
  throw new Fault('internal', 'Every schema of a route is a zod schema.');
};

/** For finding a request in the log: one id per start, counted on. */
const requestIds = ({ ids, clock }: ApiDeps['kernel']): (() => string) => {
  const start = ids.next(clock.now());
  let n = 0;
  return () => `${start}-${++n}`;
};

const nothingAt = (request: { method: string; url: string }): Refusal =>
  refuse(
    'not_found',
    `There is nothing at ${request.method} ${pathOf(request.url).slice(0, 200)}. What there is: /docs.`,
  );

/** A closing server lets short requests end, at most this long: their work is durable, but the client wants its answer. */
const drainMs = 2_000;

const drainOnClose = (app: FastifyInstance, deps: ApiDeps) => {
  let open = 0;
  let drained = () => {};
  app.addHook('onRequest', (request, _reply, done) => {
    if (!request.routeOptions.config.streams) open++;
    done();
  });
  app.addHook('onResponse', (request, _reply, done) => {
    if (!request.routeOptions.config.streams && --open === 0) drained();
    done();
  });
  app.addHook('preClose', async () => {
    if (open === 0) return;
    await new Promise<void>((resolve) => {
      drained = resolve;
      deps.kernel.clock.after(drainMs, resolve);
    });
  });
};
