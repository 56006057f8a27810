/** What an agent's processes said last, as lines, and one page about it. For people who look, and for older clients. */
import { z } from 'zod';
import type { AgentRow } from '../../contract/agent.ts';
import { workspaceOf } from '../present/agent.ts';
import { readEntry } from '../present/transcript.ts';
import { logPages } from '../read-log.ts';
import { type ApiDeps, findAgent, iso, isoOrNull, NameParams, type RouteModule } from '../route.ts';

const tags = ['Agents'];
const Tail = z.object({ tail: z.coerce.number().int().min(1).max(5_000).default(100) });
const Logs = z.object({ agent_name: z.string(), logs: z.string() });
const Info = z.object({
  agent_name: z.string(),
  status: z.enum(['running', 'stopped']),
  adapter: z.string(),
  model: z.string().nullable(),
  workspace: z.string(),
  running: z.number(),
  queued: z.number(),
  sessions: z.number(),
  last_execution: z
    .object({
      id: z.string(),
      status: z.string(),
      cause: z.string().nullable(),
      queued_at: z.string(),
      completed_at: z.string().nullable(),
    })
    .nullable(),
  runners: z.array(
    z.object({
      name: z.string(),
      host: z.string().nullable(),
      version: z.string().nullable(),
      isolation: z.string().nullable(),
    }),
  ),
});

/** Executions looked through for lines: an agent that says nothing must not make this read its whole history. */
const lookBack = 20;
/** A line of a log can be a tool's whole output. */
const lineChars = 2_000;

const lineOf = (executionId: string, stored: string): string => {
  const entry = readEntry(stored);
  const line =
    entry === null
      ? stored
      : `${iso(entry.at)} ${executionId} ${entry.stream} ${entry.text ?? JSON.stringify(entry.event)}`;
  return line.slice(0, lineChars);
};

/** The newest lines, oldest first. */
const lastLines = async (deps: ApiDeps, agent: AgentRow, tail: number): Promise<string[]> => {
  let lines: string[] = [];
  const newest = await deps.store.read('executions', { agent_id: agent.id, limit: lookBack });
  for (const row of newest)
    for (const attempt of (await deps.store.read('attempts', { execution_id: row.id })).reverse()) {
      const last = await deps.store.read('stored_seq', { attempt_id: attempt.id });
      const from = Math.max(0, last - (tail - lines.length));
      const said: string[] = [];
      for await (const entries of logPages(deps, row.id, attempt.id, from))
        said.push(...entries.map((e) => lineOf(row.id, e.entry)));
      lines = [...said, ...lines];
      if (lines.length >= tail) return lines.slice(-tail);
    }
  return lines;
};

export const agentInfoRoutes: RouteModule = (deps) => async (app) => {
  app.get(
    '/api/agents/:name/logs',
    {
      config: { needs: 'read' },
      schema: {
        tags,
        summary: 'The last lines of its runs',
        params: NameParams,
        querystring: Tail,
        response: { 200: Logs },
      },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      return { agent_name: agent.name, logs: (await lastLines(deps, agent, request.query.tail)).join('\n') };
    },
  );

  app.get(
    '/api/agents/:name/info',
    { config: { needs: 'read' }, schema: { tags, summary: 'About it', params: NameParams, response: { 200: Info } } },
    async (request) => {
      const agent = await findAgent(deps, request);
      const [occupancy, sessions, runners, newest] = await Promise.all([
        deps.store.read('occupancy', { limits: deps.claimLimits() }),
        deps.store.read('sessions', { agent_id: agent.id }),
        deps.store.read('runners', {}),
        deps.store.read('executions', { agent_id: agent.id, limit: 1 }),
      ]);
      const counts = occupancy.agents.find((a) => a.agent_id === agent.id);
      const last = newest[0];
      return {
        agent_name: agent.name,
        status: agent.desired_state,
        adapter: agent.adapter,
        model: agent.model,
        workspace: workspaceOf(agent, deps.config.home),
        running: counts?.running ?? 0,
        queued: counts?.queued ?? 0,
        sessions: sessions.filter((s) => s.cleared_at === null).length,
        last_execution:
          last === undefined
            ? null
            : {
                id: last.id,
                status: last.status,
                cause: last.cause,
                queued_at: iso(last.queued_at),
                completed_at: isoOrNull(last.completed_at),
              },
        runners: runners.map((r) => ({ name: r.name, host: r.host, version: r.version, isolation: r.isolation })),
      };
    },
  );
};
