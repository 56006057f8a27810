/**
 * What a person must see or answer, and the answer; and the other side of it: an agent asks, and waits for what it asked. The
 * doing is in `operator/`: here it is parsed, audited and shown.
 */
import { z } from 'zod';
import { AnswerDelivery, ItemKind, ItemStatus, itemLimits, Severity } from '../../contract/operator.ts';
import { principalScope } from '../../contract/principal.ts';
import { answer } from '../../operator/answer.ts';
import { ask } from '../../operator/ask.ts';
import { awaitAnswer } from '../../operator/await-answer.ts';
import { itemBody } from '../../operator/item-body.ts';
import { visibleItem } from '../../operator/visible-item.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import { openRequests } from '../open-requests.ts';
import { IdParams, orNotFound, orRefuse, type RouteModule, who } from '../route.ts';

const tags = ['Operator'];
const Item = z.object({
  id: z.string(),
  kind: ItemKind,
  priority: Severity,
  severity: Severity,
  agent_name: z.string().nullable(),
  execution_id: z.string().nullable(),
  session_id: z.string().nullable(),
  title: z.string(),
  evidence: z.array(z.string()),
  status: ItemStatus,
  count: z.number(),
  options: z.array(z.string()),
  answer: z.string().nullable(),
  note: z.string().nullable(),
  answered_by: z.string().nullable(),
  /** Of an answer: on its way, taken by the execution that asked, given as a turn of its session, or not to be given. */
  delivery: AnswerDelivery.nullable(),
  delivery_note: z.string().nullable(),
  answer_execution_id: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  last_at: z.string(),
  acknowledged_at: z.string().nullable(),
});

const Asked = z.object({
  kind: z.enum(['question', 'approval']).default('question'),
  title: z.string().min(1).max(itemLimits.titleChars),
  details: z.string().max(itemLimits.detailsChars).nullish(),
  options: z.array(z.string().min(1).max(itemLimits.optionChars)).max(itemLimits.options).default([]),
  severity: Severity.default('normal'),
  execution_id: z.string().max(100).nullish(),
});
const Answered = z.object({
  answer: z.string().min(1).max(itemLimits.answerChars),
  note: z.string().max(itemLimits.detailsChars).nullish(),
});
/** Below what proxies cut: who waits longer asks again. */
const longestWaitS = 300;

export const operatorQueueRoutes: RouteModule = (deps) => async (app) => {
  const open = openRequests(app, deps.kernel.clock);

  app.get(
    '/api/operator-queue',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'Items, newest first; pending: open, and questions that were seen but not answered',
        querystring: z.object({
          status: z.enum([...ItemStatus.options, 'pending']).optional(),
          limit: z.coerce.number().int().min(1).max(500).default(100),
        }),
        response: { 200: z.array(Item) },
      },
    },
    async (request) => {
      const { status, limit } = request.query;
      return (await deps.store.read('operator_items', { status: status ?? null, limit })).map(itemBody);
    },
  );

  app.post(
    '/api/operator-queue',
    {
      config: { needs: 'read' },
      schema: {
        tags,
        summary: 'An agent asks a person; the same question again, while it waits, is the same item (200)',
        body: Asked,
        response: { 200: Item, 201: Item },
      },
    },
    async (request, reply) => {
      const { details, execution_id, ...rest } = request.body;
      const question = { ...rest, details: details ?? null, execution_id: execution_id ?? null };
      const { item, created } = orRefuse(await ask(deps, question, who(request)));
      return reply.code(created ? 201 : 200).send(itemBody(item));
    },
  );

  app.get(
    '/api/operator-queue/:id',
    {
      config: { needs: 'read' },
      schema: { tags, summary: 'One item; agents see their own', params: IdParams, response: { 200: Item } },
    },
    async (request) => itemBody(orNotFound(await visibleItem(deps, request.params.id, who(request)), 'operator item')),
  );

  app.post(
    '/api/operator-queue/:id/await',
    {
      config: { needs: 'read', streams: true },
      schema: {
        tags,
        summary: 'Wait for the answer; an execution that asked takes it, and no turn is started for it',
        params: IdParams,
        body: z.object({ wait_seconds: z.number().min(0).max(longestWaitS).default(60) }).nullish(),
        response: { 200: Item },
      },
    },
    async (request, reply) => {
      const ms = (request.body?.wait_seconds ?? 60) * 1000;
      const item = await awaitAnswer(deps, request.params.id, who(request), ms, open.signalOf(reply));
      return itemBody(orNotFound(item, 'operator item'));
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
      return itemBody(item);
    },
  );

  app.post(
    '/api/operator-queue/:id/respond',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Answer; to an approval approve or deny. The first answer stands',
        params: IdParams,
        body: Answered,
        response: { 200: Item },
      },
    },
    async (request) => {
      const given = { answer: request.body.answer, note: request.body.note ?? null };
      const done = orRefuse(await answer(deps, request.params.id, given, who(request)));
      const item = orNotFound(done, 'operator item');
      await audit(deps, who(request), 'operator.respond', item.id, { title: item.title, kind: item.kind });
      return itemBody(item);
    },
  );
};
