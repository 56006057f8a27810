/** Who did what. For owners: it names people. */
import { z } from 'zod';
import { iso, type RouteModule } from '../route.ts';

const Row = z.object({
  id: z.string(),
  at: z.string(),
  by: z.string(),
  action: z.string(),
  target: z.string(),
  data: z.record(z.string(), z.unknown()),
});

export const auditRoutes: RouteModule = (deps) => async (app) => {
  app.get(
    '/api/audit',
    {
      config: { needs: 'own' },
      schema: {
        tags: ['People'],
        summary: 'Changes by people and keys, newest first; go on with before = the last id',
        querystring: z.object({
          limit: z.coerce.number().int().min(1).max(1_000).default(100),
          before: z.string().max(100).optional(),
        }),
        response: { 200: z.array(Row) },
      },
    },
    async (request) => {
      const { limit, before } = request.query;
      return (await deps.store.read('audit_log', { limit, before: before ?? null })).map((r) => ({
        ...r,
        at: iso(r.at),
      }));
    },
  );
};
