/**
 * The timelines older clients read: activities of one agent and of all, and what an agent does at this moment. Views over
 * executions and their logs; to clear one hides what it showed so far, in this server's memory, and changes no record.
 */
import { z } from 'zod';
import type { AgentRow } from '../../contract/agent.ts';
import type { ListExecutions } from '../../store/history-verbs.ts';
import { type ActivityBody, activityOf, activityStates, activityTypes, toolActivityOf } from '../present/activity.ts';
import { callMs, type ToolCall } from '../present/transcript.ts';
import { listedChars } from '../read-execution.ts';
import { readTools } from '../read-log.ts';
import { type ApiDeps, findAgent, iso, NameParams, orNotFound, type RouteModule } from '../route.ts';
import { Limit } from './work-params.ts';

const list = <T extends readonly [string, ...string[]]>(of: T) =>
  z
    .union([z.string(), z.array(z.string())])
    .transform((given) => [given].flat().flatMap((s) => s.split(',')))
    .pipe(z.array(z.enum(of)))
    .optional();

/** One activity has its start and its end: what older clients ask for besides matches nothing. */
const askedTypes = [...activityTypes, 'chat_end', 'task_end', 'schedule_end'] as const;

/** ISO 8601; without a zone it is UTC, as all times of the API are. */
const Moment = z.union(
  [z.iso.datetime({ offset: true }), z.iso.datetime({ local: true }).transform((text) => `${text}Z`), z.iso.date()],
  {
    error: 'needs an ISO 8601 time, such as 2026-11-30T08:00:00Z',
  },
);

const ActivityQuery = z.object({
  limit: Limit,
  activity_type: list(askedTypes),
  activity_types: list(askedTypes),
  activity_state: list(activityStates),
  start_time: Moment.optional(),
  end_time: Moment.optional(),
});
type Query = z.infer<typeof ActivityQuery>;

/** Tool calls come from logs, one read per execution: of so many executions at most, and only when asked for. */
const toolExecutions = 20;
/** Rows looked at for one list: filters that match little must not read the whole table. */
const mostRows = 1_000;

export const workActivities: RouteModule = (deps) => async (app) => {
  app.get(
    '/api/agents/:name/activities',
    {
      config: { needs: 'read' },
      schema: {
        tags: ['Work'],
        summary: 'What an agent did, newest first; tool calls with activity_type=tool_call',
        params: NameParams,
        querystring: ActivityQuery,
      },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const activities = await readActivities(deps, { agent_id: agent.id }, request.query);
      return { agent_name: agent.name, count: activities.length, activities };
    },
  );

  app.get(
    '/api/activities/timeline',
    {
      config: { needs: 'view' },
      schema: { tags: ['Work'], summary: 'What all agents did, newest first', querystring: ActivityQuery },
    },
    async (request) => {
      const activities = await readActivities(deps, {}, request.query);
      return { count: activities.length, activities };
    },
  );

  /** Agent id → wall ms: what lies before is hidden from the live view. */
  const clearedAt = new Map<string, number>();
  const liveTools = async (agent: AgentRow) => {
    const rows = await deps.store.read('executions', { agent_id: agent.id, limit: 5 });
    const running = rows.filter((r) => r.status === 'running' || r.status === 'waiting');
    const shown = running.length > 0 ? running : rows.slice(0, 1);
    const since = clearedAt.get(agent.id) ?? 0;
    const calls = (await Promise.all(shown.map((r) => readTools(deps, r.id)))).flat();
    return {
      running,
      calls: calls
        .filter((c) => c.started_at === null || Date.parse(c.started_at) >= since)
        .sort((a, b) => ((a.started_at ?? '') < (b.started_at ?? '') ? 1 : -1)),
    };
  };

  app.get(
    '/api/agents/:name/activity',
    {
      config: { needs: 'read' },
      schema: { tags: ['Work'], summary: 'What an agent does at this moment', params: NameParams },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const { running, calls } = await liveTools(agent);
      const active = running.length === 0 ? undefined : calls.find((c) => c.success === null);
      const counts: Record<string, number> = {};
      for (const c of calls) counts[c.tool] = (counts[c.tool] ?? 0) + 1;
      return {
        agent_name: agent.name,
        status: agent.desired_state === 'stopped' ? 'stopped' : running.length > 0 ? 'running' : 'idle',
        active_tool:
          active === undefined
            ? null
            : { id: active.id, name: active.tool, input: active.input, started_at: active.started_at },
        tool_counts: counts,
        total_tools: calls.length,
        running_executions: running.map((r) => r.id),
        timeline: calls.slice(0, timelineLength).map(presentCall),
        last_activity: calls[0]?.ended_at ?? calls[0]?.started_at ?? null,
      };
    },
  );

  app.delete(
    '/api/agents/:name/activity',
    {
      config: { needs: 'operate' },
      schema: { tags: ['Work'], summary: 'Empty the live view; records stay', params: NameParams },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const now = deps.kernel.clock.now();
      clearedAt.set(agent.id, now);
      return { status: 'cleared', agent_name: agent.name, cleared_at: iso(now) };
    },
  );

  app.get(
    '/api/agents/:name/activity/:tool',
    {
      config: { needs: 'read' },
      schema: {
        tags: ['Work'],
        summary: 'One tool call of the live view, by its id, or the newest one of a tool by its name',
        params: z.object({ name: z.string().max(300), tool: z.string().max(300) }),
      },
    },
    async (request) => {
      const { calls } = await liveTools(await findAgent(deps, request));
      const { tool } = request.params;
      return presentCall(
        orNotFound(calls.find((c) => c.id === tool) ?? calls.find((c) => c.tool === tool) ?? null, 'tool call'),
      );
    },
  );
};

const timelineLength = 100;

const presentCall = (c: ToolCall) => ({
  id: c.id,
  tool: c.tool,
  input: c.input,
  output: c.output,
  success: c.success,
  started_at: c.started_at,
  ended_at: c.ended_at,
  duration_ms: callMs(c),
});

const readActivities = async (
  deps: ApiDeps,
  scope: Pick<ListExecutions, 'agent_id'>,
  query: Query,
): Promise<ActivityBody[]> => {
  const types = query.activity_type ?? query.activity_types;
  const from = query.start_time === undefined ? null : Date.parse(query.start_time);
  const to = query.end_time === undefined ? null : Date.parse(query.end_time);
  const wanted = (a: ActivityBody) =>
    (types === undefined || types.includes(a.activity_type)) &&
    (query.activity_state === undefined || query.activity_state.includes(a.activity_state)) &&
    (from === null || Date.parse(a.started_at) >= from) &&
    (to === null || Date.parse(a.started_at) <= to);

  const found: ActivityBody[] = [];
  let logs = types?.includes('tool_call') === true ? toolExecutions : 0;
  let before: string | undefined;
  const page = 200;
  for (let looked = 0; found.length < query.limit && looked < mostRows; looked += page) {
    const rows = await deps.store.read('executions_with_texts', {
      ...scope,
      before,
      limit: page,
      text_chars: listedChars,
    });
    for (const row of rows) {
      found.push(...[activityOf(row)].filter(wanted));
      if (logs-- > 0) found.push(...(await readTools(deps, row.id)).map((c) => toolActivityOf(row, c)).filter(wanted));
    }
    if (rows.length < page) break;
    before = rows.at(-1)!.id;
  }
  return found
    .sort((a, b) => (a.started_at < b.started_at ? 1 : a.started_at > b.started_at ? -1 : a.id < b.id ? 1 : -1))
    .slice(0, query.limit);
};
