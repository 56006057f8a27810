/**
 * The built page at `/`: files of `web` beside the bundle, any other path is the page itself (it has routes of its own). Paths below /api
 * never get here as a page: they are 401 or the uniform 404. The policy allows nothing but our own files.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import helmet, { type FastifyHelmetOptions } from '@fastify/helmet';
import files from '@fastify/static';
import { z } from 'zod';
import { isApiPath } from '../gate.ts';
import type { RouteModule } from '../route.ts';

export const pagePolicy: FastifyHelmetOptions = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", 'data:'],
      fontSrc: ["'self'"],
      connectSrc: ["'self'"],
      manifestSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
    },
  },
  referrerPolicy: { policy: 'no-referrer' },
  // Behind plain HTTP on loopback it would lock people out; a proxy that ends TLS sets it itself.
  strictTransportSecurity: false,
};

export const page: RouteModule = (deps) => async (app) => {
  if (!existsSync(join(deps.pageDir, 'index.html'))) return;
  await app.register(helmet, pagePolicy);
  await app.register(files, { root: deps.pageDir, serve: false });
  app.get(
    '/*',
    { config: { needs: 'page' }, schema: { hide: true, params: z.object({ '*': z.string() }) } },
    async (request, reply) => {
      const path = request.params['*'];
      if (isApiPath(request.url)) return reply.callNotFound();
      // Built assets carry a hash in their name: kept for a year. The page itself is asked for each time.
      if (path.startsWith('assets/')) return reply.sendFile(path, { maxAge: '365d', immutable: true });
      const isFile = /\.[a-z0-9]+$/i.test(path);
      return reply.header('cache-control', 'no-cache').sendFile(isFile ? path : 'index.html', { cacheControl: false });
    },
  );
};
