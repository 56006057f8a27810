/**
 * Executions as they are: lists, one row with its attempts, why it is as it is, counts; and the one thing that may be done to
 * a row from outside, to stop it. Under an agent's path `waiting` reads `running` for pollers that do not know it.
 */
import { z } from 'zod';
import { causeNames } from '../../contract/causes.ts';
import { refuse } from '../../contract/errors.ts';
import { type ExecutionRow, type ExecutionStatus, Trigger } from '../../contract/execution.ts';
import { limits } from '../../contract/limits.ts';
import { type Principal, principalScope } from '../../contract/principal.ts';
import { cleanText } from '../../contract/text.ts';
import { cancel } from '../../flow/cancel.ts';
import { audit } from '../../record/audit.ts';
import { presentExecution } from '../present/execution.ts';
import { presentWhy } from '../present/why.ts';
import {
  type Asked,
  cutTexts,
  findAsked,
  findExecution,
  listExecutions,
  listedChars,
  readAttempts,
  readBody,
  searchExecutions,
  waitsOf,
} from '../read-execution.ts';
import { type ApiDeps, findAgent, IdParams, NameParams, orNotFound, Refused, type RouteModule, who } from '../route.ts';
import { shareAnswers } from '../shared-answer.ts';
import { AgentExecutionParams, Limit, statusList } from './work-params.ts';

const ListQuery = z.object({
  status: statusList,
  agent: z.string().max(300).optional(),
  cause: z.enum(causeNames).optional(),
  triggered_by: Trigger.optional(),
  parent_execution_id: z.string().max(100).optional(),
  /** Part of a message, whatever its case, or an id. One answer looks through a bounded stretch: go on by `next`. */
  search: z.string().trim().max(200).optional(),
  order: z.enum(['newest', 'oldest']).default('newest'),
  /** The `next` of the page before: rows beyond it. */
  after: z.string().max(100).optional(),
  limit: Limit,
});

const TerminateBody = z.object({ reason: z.string().max(2_000).nullish() });

export const workExecutions: RouteModule = (deps) => async (app) => {
  const answerShared = shareAnswers(deps);
  app.get(
    '/api/agents/:name/executions',
    {
      config: { needs: 'read' },
      schema: {
        tags: ['Work'],
        summary: 'The executions of an agent, newest first',
        params: NameParams,
        querystring: z.object({ limit: Limit, status: statusList, after: z.string().max(100).optional() }),
      },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const { limit, status, after } = request.query;
      // Who filters by the shown status `running` means those that wait inside, too.
      const statuses = status?.includes('running') ? [...new Set<ExecutionStatus>([...status, 'waiting'])] : status;
      return listExecutions(deps, { agent_id: agent.id, status: statuses, before: after, limit }, true);
    },
  );

  app.get(
    '/api/agents/:name/executions/running',
    {
      config: { needs: 'read' },
      schema: { tags: ['Work'], summary: 'What runs at this moment, newest first', params: NameParams },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const rows = await deps.store.read('executions_with_texts', {
        agent_id: agent.id,
        status: ['running', 'waiting'],
        limit: limits.maxParallelTasks.max,
        text_chars: listedChars,
      });
      const executions = rows.map((row) => {
        const body = presentExecution(cutTexts(row), { oldStatus: true });
        const { id, status, phase, started_at, message, triggered_by, timeout_seconds } = body;
        const metadata = { message, triggered_by, phase, timeout_seconds };
        return { execution_id: id, status, started_at, metadata };
      });
      return { agent_name: agent.name, count: executions.length, executions };
    },
  );

  app.get(
    '/api/agents/:name/executions/:id',
    {
      config: { needs: 'read' },
      schema: { tags: ['Work'], summary: 'One execution of an agent', params: AgentExecutionParams },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      return readBody(deps, await findExecution(deps, request.params.id, who(request), agent), true);
    },
  );

  app.get(
    '/api/executions',
    {
      config: { needs: 'view' },
      schema: {
        tags: ['Work'],
        summary: 'All executions, page by page: newest first, or oldest first; a search goes from the newest back',
        querystring: ListQuery,
      },
    },
    async (request, reply) => {
      const { agent: name, after, limit, search, order, ...filters } = request.query;
      const agent =
        name === undefined ? null : await findAgent(deps, { principal: request.principal, params: { name } });
      const query = { ...filters, agent_id: agent?.id, before: after, limit };
      if (search) return searchExecutions(deps, { ...query, search });
      return answerShared(request, reply, async () => {
        const executions = await listExecutions(deps, { ...query, oldest_first: order === 'oldest' });
        return { executions, next: executions.length === limit ? executions.at(-1)!.id : null };
      });
    },
  );

  app.get(
    '/api/executions/stats',
    {
      config: { needs: 'view' },
      schema: {
        tags: ['Work'],
        summary: 'How many ended how, and what they cost',
        querystring: z.object({ since: z.iso.datetime({ offset: true }).optional() }),
      },
    },
    async (request) => {
      const since = request.query.since === undefined ? null : Date.parse(request.query.since);
      const stats = await deps.store.read('stats', { since });
      const total = Object.values(stats.by_status).reduce((a, b) => a + b, 0);
      return { total, ...stats };
    },
  );

  app.get(
    '/api/executions/:id',
    { config: { needs: 'read' }, schema: { tags: ['Work'], summary: 'One execution', params: IdParams } },
    async (request) => readBody(deps, await findExecution(deps, request.params.id, who(request))),
  );

  const why = async (request: Asked) => {
    const row = await findAsked(deps, request);
    const [waits, attempts] = await Promise.all([waitsOf(deps, [row]), readAttempts(deps, row.id)]);
    return presentWhy(row, waits[row.id] ?? null, attempts);
  };
  const whySchema = {
    tags: ['Work'],
    summary: 'Why it waits, or why it ended as it did: every decision with its evidence',
  };
  app.get('/api/executions/:id/why', { config: { needs: 'read' }, schema: { ...whySchema, params: IdParams } }, why);
  app.get(
    '/api/agents/:name/executions/:id/why',
    { config: { needs: 'read' }, schema: { ...whySchema, params: AgentExecutionParams } },
    why,
  );

  const terminate = async (request: Asked & { body: z.infer<typeof TerminateBody> }) => {
    const row = await findAsked(deps, request);
    const principal = who(request);
    if (!(await mayStop(deps, row, principal)))
      throw new Refused(refuse('forbidden', 'An agent may stop only what it runs itself or has called.'));
    const reason = request.body.reason == null ? null : cleanText(request.body.reason);
    const { result, execution } = await cancel(deps, row.id, principalScope(principal), reason);
    if (result === 'not_found') return orNotFound(null, 'execution');
    if (result !== 'already_finished') await audit(deps, principal, 'execution.cancel', row.id, { result, reason });
    return { status: result, execution_id: row.id, execution_status: execution?.status ?? row.status };
  };
  const terminateSchema = { tags: ['Work'], summary: 'Stop an execution, wherever it stands', body: TerminateBody };
  app.post(
    '/api/executions/:id/terminate',
    { config: { needs: 'submit' }, schema: { ...terminateSchema, params: IdParams } },
    terminate,
  );
  app.post(
    '/api/agents/:name/executions/:id/terminate',
    { config: { needs: 'submit' }, schema: { ...terminateSchema, params: AgentExecutionParams } },
    terminate,
  );
};

/** People may stop anything; an agent what it runs or called itself (R44: never its owner's rights). */
const mayStop = async (deps: ApiDeps, row: ExecutionRow, principal: Principal): Promise<boolean> => {
  if (principal.kind === 'execution') return row.parent_execution_id === principal.executionId;
  if (principal.kind !== 'agent') return true;
  if (row.agent_id === principal.agentId) return true;
  const parent =
    row.parent_execution_id === null ? null : await deps.store.read('execution', { id: row.parent_execution_id });
  return parent?.agent_id === principal.agentId;
};
