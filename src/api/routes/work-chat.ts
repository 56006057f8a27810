/**
 * Chats of an agent, read from its executions: the open conversation (`history`), everything ever said (`persistent`), the
 * sessions and their counters. To clear a history closes its sessions and deletes nothing: the executions stay.
 */
import { z } from 'zod';
import type { AgentRow } from '../../contract/agent.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import type { SessionRow } from '../../store/rows.ts';
import type { FullExecution } from '../present/execution.ts';
import { type ApiDeps, findAgent, iso, isoOrNull, NameParams, orNotFound, type RouteModule, who } from '../route.ts';
import { AgentExecutionParams, Limit } from './work-params.ts';

interface Said {
  role: 'user' | 'assistant';
  content: string;
  timestamp: string;
  session_id: string | null;
  execution_id: string;
  /** Of an answer: what the turn took. */
  cost?: number | null;
  duration_ms?: number | null;
  context_used?: number | null;
  context_max?: number | null;
  tool_calls?: number | null;
}

export const workChat: RouteModule = (deps) => async (app) => {
  app.get(
    '/api/agents/:name/chat/history',
    {
      config: { needs: 'read' },
      schema: { tags: ['Work'], summary: 'The open conversation, oldest first', params: NameParams },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const sessions = new Map((await deps.store.read('sessions', { agent_id: agent.id })).map((s) => [s.id, s]));
      const open = (row: FullExecution) => {
        const session = row.session_id === null ? undefined : sessions.get(row.session_id);
        return session !== undefined && session.cleared_at === null;
      };
      return said(await chats(deps, agent, historyTurns), open);
    },
  );

  app.delete(
    '/api/agents/:name/chat/history',
    {
      config: { needs: 'operate' },
      schema: {
        tags: ['Work'],
        summary: 'Close the open conversation: the next chat starts afresh',
        params: NameParams,
      },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const { cleared } = await commit(deps, 'clear_chat', { agent_id: agent.id });
      await audit(deps, who(request), 'chat.clear', agent.name, { cleared });
      return { status: 'cleared', agent_name: agent.name, cleared };
    },
  );

  app.get(
    '/api/agents/:name/chat/history/persistent',
    {
      config: { needs: 'read' },
      schema: {
        tags: ['Work'],
        summary: 'Everything said, cleared conversations too, oldest first',
        params: NameParams,
        querystring: z.object({ limit: Limit, session_id: z.string().max(100).optional() }),
      },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const { limit, session_id } = request.query;
      const messages = said(
        await chats(deps, agent, limit, session_id),
        (row) => session_id === undefined || row.session_id === session_id,
      );
      return { agent_name: agent.name, message_count: messages.length, messages };
    },
  );

  app.get(
    '/api/agents/:name/chat/sessions',
    {
      config: { needs: 'read' },
      schema: { tags: ['Work'], summary: 'The chat sessions of an agent', params: NameParams },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const counts = messagesPerSession(await chats(deps, agent, historyTurns));
      const titles = firstWords(
        await deps.store.read('executions_with_texts', { agent_id: agent.id, limit: historyTurns }),
      );
      const sessions = (await deps.store.read('sessions', { agent_id: agent.id })).map((s) => ({
        ...presentSession(s, counts),
        title: titles.get(s.id) ?? null,
      }));
      return { agent_name: agent.name, session_count: sessions.length, sessions };
    },
  );

  app.get(
    '/api/agents/:name/chat/sessions/:id',
    {
      config: { needs: 'read' },
      schema: {
        tags: ['Work'],
        summary: 'One session with all that was said in it, oldest first; of a task that was gone on from, too',
        params: AgentExecutionParams,
        querystring: z.object({ limit: Limit }),
      },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      // By its own id, or by the CLI's, which answers name.
      const { id } = request.params;
      const all = await deps.store.read('sessions', { agent_id: agent.id });
      const session = orNotFound(all.find((s) => s.id === id || s.cli_session_id === id) ?? null, 'session');
      const turns = await chats(deps, agent, request.query.limit, session.id);
      return {
        agent_name: agent.name,
        ...presentSession(session, messagesPerSession(turns)),
        messages: said(turns, () => true),
      };
    },
  );

  app.get(
    '/api/agents/:name/chat/session',
    {
      config: { needs: 'read' },
      schema: { tags: ['Work'], summary: 'The counters of the open conversation', params: NameParams },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const sessions = await deps.store.read('sessions', { agent_id: agent.id });
      const main =
        sessions.find((s) => s.id === agent.main_session_id) ??
        sessions.find((s) => s.is_main && s.cleared_at === null);
      if (main === undefined) return { agent_name: agent.name, ...noSession };
      const counts = messagesPerSession(await chats(deps, agent, historyTurns, main.id));
      return { agent_name: agent.name, ...presentSession(main, counts) };
    },
  );
};

/** The turns an open conversation shows: more than any context holds. */
const historyTurns = 200;

const chats = async (deps: ApiDeps, agent: AgentRow, limit: number, sessionId?: string): Promise<FullExecution[]> => {
  const rows = await deps.store.read('executions_with_texts', {
    agent_id: agent.id,
    // A session that a task began is shown from its first word.
    ...(sessionId === undefined && { kind: 'chat' as const }),
    session_id: sessionId,
    limit,
  });
  return rows.filter((row) => row.kind === 'chat' || sessionId !== undefined).reverse();
};

const said = (rows: readonly FullExecution[], include: (row: FullExecution) => boolean): Said[] =>
  rows.filter(include).flatMap((row) => [
    { ...turn(row), role: 'user' as const, content: row.message, timestamp: iso(row.queued_at) },
    // A turn that failed or still runs has said nothing: the execution tells how it ended.
    ...(row.response === null
      ? []
      : [
          {
            ...turn(row),
            role: 'assistant' as const,
            content: row.response,
            timestamp: iso(row.completed_at ?? row.queued_at),
            cost: row.cost_usd,
            duration_ms: row.duration_ms,
            context_used: row.context_used,
            context_max: row.context_max,
            tool_calls: row.tool_calls,
          },
        ]),
  ]);

const turn = (row: FullExecution) => ({ session_id: row.session_id, execution_id: row.id, status: row.status });

/** Counted from the turns themselves; the session's own count stands in for turns that are further back than is read. */
const messagesPerSession = (rows: readonly FullExecution[]): Map<string | null, number> => {
  const counts = new Map<string | null, number>();
  for (const m of said(rows, () => true)) counts.set(m.session_id, (counts.get(m.session_id) ?? 0) + 1);
  return counts;
};

/** What a conversation began with, as far back as is read; a task's, too. */
const titleChars = 200;
const firstWords = (newestFirst: readonly FullExecution[]): Map<string | null, string> =>
  new Map(newestFirst.map((row) => [row.session_id, row.message.slice(0, titleChars)]));

const presentSession = (s: SessionRow, counts: ReadonlyMap<string | null, number>) => ({
  session_id: s.id,
  is_main: s.is_main,
  message_count: Math.max(counts.get(s.id) ?? 0, 2 * s.message_count),
  total_cost: s.cost_usd,
  context_tokens: s.context_used,
  context_window: s.context_max,
  cli_session_id: s.cli_session_id,
  status: s.cleared_at === null ? 'open' : 'cleared',
  started_at: iso(s.created_at),
  last_message_at: iso(s.last_used_at),
  cleared_at: isoOrNull(s.cleared_at),
});

const noSession = {
  session_id: null,
  is_main: true,
  message_count: 0,
  total_cost: 0,
  context_tokens: null,
  context_window: null,
  cli_session_id: null,
  status: 'none',
};
