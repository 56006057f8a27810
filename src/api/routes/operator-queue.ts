/** What a person must see or answer, and the answer. */
import { z } from 'zod';
import { principalScope } from '../../contract/principal.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import type { OperatorItemRow } from '../../contract/operator.ts';
import { IdParams, iso, orNotFound, type RouteModule, who } from '../route.ts';

const tags = ['Operator'];
const Item = z.object({
  id: z.string(),
  kind: z.enum(['alert', 'question', 'approval']),
  priority: z.enum(['low', 'normal', 'high']),
  agent_name: z.string().nullable(),
  execution_id: z.string().nullable(),
  title: z.string(),
  evidence: z.array(z.string()),
  status: z.enum(['open', 'acknowledged', 'answered', 'closed']),
  count: z.number(),
  answer: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
});

const present = (i: OperatorItemRow): z.infer<typeof Item> => ({
  ...i,
  created_at: iso(i.created_at),
  updated_at: iso(i.updated_at),
});

export const operatorQueueRoutes: RouteModule = (deps) => async (app) => {
  app.get(
    '/api/operator-queue',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'Items, newest first',
        querystring: z.object({
          status: z.enum(['open', 'acknowledged', 'answered', 'closed']).optional(),
          limit: z.coerce.number().int().min(1).max(500).default(100),
        }),
        response: { 200: z.array(Item) },
      },
    },
    async (request) => {
      const { status, limit } = request.query;
      return (await deps.store.read('operator_items', { status: status ?? null, limit })).map(present);
    },
  );

  app.post(
    '/api/operator-queue/:id/acknowledge',
    {
      config: { needs: 'operate' },
      schema: { tags, summary: 'Seen', params: IdParams, response: { 200: Item } },
    },
    async (request) => {
      const by = principalScope(who(request));
      const { id } = request.params;
      const done = await commit(deps, 'answer_operator_item', { id, status: 'acknowledged', answer: null, by });
      const item = orNotFound(done, 'operator item');
      await audit(deps, who(request), 'operator.acknowledge', item.id, { title: item.title });
      return present(item);
    },
  );

  app.post(
    '/api/operator-queue/:id/respond',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Answer',
        params: IdParams,
        body: z.object({ answer: z.string().min(1).max(100_000) }),
        response: { 200: Item },
      },
    },
    async (request) => {
      const by = principalScope(who(request));
      const { id } = request.params;
      const done = await commit(deps, 'answer_operator_item', {
        id,
        status: 'answered',
        answer: request.body.answer,
        by,
      });
      const item = orNotFound(done, 'operator item');
      await audit(deps, who(request), 'operator.respond', item.id, { title: item.title });
      return present(item);
    },
  );
};
