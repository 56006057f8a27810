/**
 * The typed client of page and CLI: one method per route that they use, bodies as in wire.ts. It holds no state but its
 * address and its credentials, decides nothing, and never waits in one request for the length of a run: a synchronous
 * call asks for a short wait (`Prefer: wait`) and goes on by the id that it is given.
 */

import type { AgentSpec } from '../contract/agent.ts';
import type { Backup } from '../contract/backup.ts';
import type { EventRow } from '../contract/events.ts';
import type { MorningReport } from '../contract/morning.ts';
import { isTerminal } from '../contract/status.ts';
import { type Pause, pause } from './pause.ts';
import { ApiError, type Ask, type Auth, request, type Wire } from './request.ts';
import { follow } from './stream.ts';
import type {
  AcceptedBody,
  AgentBody,
  AnswerBody,
  BudgetsBody,
  ChainBody,
  CostQuery,
  CostsBody,
  CredentialBody,
  ExecutionBody,
  IncidentBody,
  LimitsBody,
  LogBody,
  NewCredentialBody,
  NewNotifyBody,
  NotifyBody,
  OperatorItemBody,
  ProviderBody,
  RunnerBody,
  StatsBody,
  TerminateBody,
  UserBody,
} from './wire.ts';

interface World {
  fetch?: typeof fetch;
  pause?: Pause;
  /** A stream without a byte for this long is taken for dead. */
  idleMs?: number;
}

interface WorkBody {
  message: string;
  model?: string;
  session?: string;
  allowed_tools?: string[];
  system_prompt?: string;
  timeout_seconds?: number;
  max_turns?: number;
  priority?: string;
  resume_session_id?: string;
}

interface WorkOptions {
  idempotencyKey?: string;
  /** Seconds to hold this one request; beyond it the answer is the id. */
  waitS?: number;
  /** No bound on this one request: for a `fetch` that has none either. Left out with `waitS`: until it has ended. */
  unbounded?: true;
  signal?: AbortSignal;
}

/** Either it ended within the wait, or it goes on under its id. */
type Submitted =
  | { ended: true; execution_id: string | null; replay: boolean; answer: AnswerBody }
  | { ended: false; execution_id: string; replay: boolean };

interface ListQuery {
  /** In the message, or the id itself. */
  search?: string;
  order?: 'newest' | 'oldest';
  status?: string;
  agent?: string;
  cause?: string;
  triggered_by?: string;
  after?: string;
  limit?: number;
}

interface ExecutionPage {
  executions: ExecutionBody[];
  next: string | null;
}

export type FeedItem =
  | { kind: 'up'; first: boolean }
  | { kind: 'event'; event: EventRow }
  /** What was asked for is older than what is kept: read everything again. */
  | { kind: 'reset'; last: number }
  | { kind: 'down'; error: Error; retryMs: number };

type TranscriptItem =
  | { kind: 'up'; first: boolean }
  | { kind: 'entry'; entry: Record<string, unknown> }
  | { kind: 'ended' }
  | { kind: 'down'; error: Error; retryMs: number };

const id = encodeURIComponent;

const parsed = (data: string): Record<string, unknown> | null => {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
};

export const client = (baseUrl: string, auth: Auth, world: World = {}) => {
  const wire: Wire = { baseUrl, auth, fetch: world.fetch ?? ((input, init) => fetch(input, init)) };
  const rest = world.pause ?? pause;
  const ask = async <T>(path: string, o: Ask = {}): Promise<T> => (await request<T>(wire, path, o)).body;

  const submit = async (agent: string, kind: 'chat' | 'task', body: object, o: WorkOptions): Promise<Submitted> => {
    const headers: Record<string, string> = {};
    if (o.idempotencyKey !== undefined) headers['idempotency-key'] = o.idempotencyKey;
    if (o.waitS !== undefined) headers.prefer = `wait=${o.waitS}`;
    const a = await request<AnswerBody | AcceptedBody>(wire, `/api/agents/${id(agent)}/${kind}`, {
      method: 'POST',
      json: body,
      headers,
      signal: o.signal,
      timeoutMs: o.unbounded ? 0 : ((o.waitS ?? 15) + 15) * 1000,
    });
    const replay = a.headers.get('x-idempotent-replay') === 'true';
    const rowId = a.headers.get('x-execution-id');
    if (a.status !== 202) return { ended: true, execution_id: rowId, replay, answer: a.body as AnswerBody };
    return { ended: false, execution_id: (a.body as AcceptedBody).execution_id ?? rowId, replay };
  };

  const execution = (executionId: string, signal?: AbortSignal) =>
    ask<ExecutionBody>(`/api/executions/${id(executionId)}`, { signal });

  async function* transcript(executionId: string, o: { signal?: AbortSignal } = {}): AsyncGenerator<TranscriptItem> {
    // The stream replays from its start on each connection: after a drop, what was given out already is passed over.
    let given = 0;
    let seen = 0;
    const path = `/api/executions/${id(executionId)}/stream`;
    for await (const item of follow(wire, path, { ...o, pause: rest, idleMs: world.idleMs })) {
      if (item.kind !== 'message') {
        if (item.kind === 'up') seen = 0;
        yield item;
        continue;
      }
      const entry = parsed(item.message.data);
      if (entry === null) continue;
      if (entry.type === 'stream_end') {
        yield { kind: 'ended' };
        return;
      }
      seen++;
      if (seen <= given) continue;
      given = seen;
      yield { kind: 'entry', entry };
    }
  }

  return {
    // -- first start, sign in
    setupStatus: () => ask<{ setup_completed: boolean; owner_token_file?: string }>('/api/setup/status'),
    setAdminPassword: (b: { password: string; confirm_password: string; setup_token: string }) =>
      ask<{ success: boolean }>('/api/setup/admin-password', { method: 'POST', json: b }),
    login: (username: string, password: string, headers: Record<string, string> = {}) =>
      ask<{ access_token?: string; token_type: string; csrf_token?: string }>('/token', {
        method: 'POST',
        form: { username, password },
        headers,
      }),
    /** With the token of the owner's file; a session has to name its present password too. */
    setPassword: (fresh: string) => ask<unknown>('/api/password', { method: 'POST', json: { new_password: fresh } }),
    logout: () => ask<unknown>('/api/logout', { method: 'POST' }),
    me: () => ask<UserBody & { csrf_token?: string }>('/api/users/me'),
    version: () => ask<{ version: string }>('/api/version'),
    health: () => ask<{ status: string; timestamp: string; uptime_s: number; loop_lag_p99_ms: number }>('/health'),

    // -- agents
    agents: () => ask<AgentBody[]>('/api/agents'),
    agent: (name: string) => ask<AgentBody & Record<string, unknown>>(`/api/agents/${id(name)}`),
    createAgent: (spec: Partial<AgentSpec> & { name: string }) =>
      ask<AgentBody>('/api/agents', { method: 'POST', json: spec }),
    deleteAgent: (name: string) => ask<unknown>(`/api/agents/${id(name)}`, { method: 'DELETE' }),
    startAgent: (name: string) => ask<{ message: string }>(`/api/agents/${id(name)}/start`, { method: 'POST' }),
    stopAgent: (name: string, force = false) =>
      ask<{ message: string }>(`/api/agents/${id(name)}/stop`, { method: 'POST', query: { force: force || null } }),

    clearQueue: (name: string) => ask<{ cancelled: number }>(`/api/agents/${id(name)}/queue/clear`, { method: 'POST' }),

    // -- work
    chat: (agent: string, body: WorkBody, o: WorkOptions = {}) => submit(agent, 'chat', body, o),
    task: (agent: string, body: WorkBody & { async_mode?: boolean }, o: WorkOptions = {}) =>
      submit(agent, 'task', body, o),
    execution,
    executions: async (query: ListQuery = {}, signal?: AbortSignal): Promise<ExecutionPage> => {
      const body = await ask<ExecutionBody[] | ({ executions: ExecutionBody[] } & Record<string, unknown>)>(
        '/api/executions',
        { query: { ...query }, signal },
      );
      if (Array.isArray(body)) return { executions: body, next: null };
      return { executions: body.executions, next: typeof body.next === 'string' ? body.next : null };
    },
    stats: () => ask<StatsBody>('/api/executions/stats'),
    // By the id alone: what a removed agent ran stays in the history.
    terminate: (executionId: string, reason?: string) =>
      ask<TerminateBody>(`/api/executions/${id(executionId)}/terminate`, {
        method: 'POST',
        json: reason === undefined ? {} : { reason },
      }),
    chain: (executionId: string) => ask<ChainBody>(`/api/executions/${id(executionId)}/chain`),
    diff: (executionId: string) =>
      ask<{ diff: string | null; truncated: boolean; ref: string | null; note: string | null }>(
        `/api/executions/${id(executionId)}/diff`,
      ),
    log: (executionId: string) => ask<LogBody>(`/api/executions/${id(executionId)}/log`),
    transcript,
    /** Returns the row once it is terminal, however long that takes; server restarts and dropped lines do not end it. */
    untilEnded: async (executionId: string, signal?: AbortSignal): Promise<ExecutionBody> => {
      let distanceMs = 250;
      for (;;) {
        signal?.throwIfAborted();
        try {
          const row = await execution(executionId, signal);
          if (isTerminal(row.status)) return row;
          distanceMs = Math.min(2_000, distanceMs * 1.5);
          await rest(distanceMs, signal);
        } catch (e) {
          if (!(e instanceof ApiError) || (e.status !== 0 && e.status < 500 && e.status !== 429)) throw e;
          distanceMs = Math.min(5_000, distanceMs * 2);
          await rest(e.retryAfterMs ?? distanceMs, signal);
        }
      }
    },

    // -- fleet
    makeBackup: (keep: number | null) =>
      ask<Backup>('/api/backup', { method: 'POST', json: keep === null ? {} : { keep } }),
    backups: () => ask<{ count: number; backups: Backup[] }>('/api/backups'),
    limits: () => ask<LimitsBody>('/api/fleet/limits'),
    setLimits: (b: { agent_call_limit?: number; queue_timeout_s?: number }) =>
      ask<LimitsBody>('/api/fleet/limits', { method: 'PUT', json: b }),
    pause: () => ask<{ paused: boolean }>('/api/fleet/pause', { method: 'POST' }),
    /** Goes on where an ended execution stopped; the answer names the new one. */
    resumeExecution: (executionId: string, body: { message?: string }, key: string) =>
      ask<AcceptedBody & { execution_id: string }>(`/api/executions/${id(executionId)}/resume`, {
        method: 'POST',
        json: body,
        headers: { 'idempotency-key': key },
      }),
    resume: () => ask<{ paused: boolean }>('/api/fleet/resume', { method: 'POST' }),
    costs: (query: CostQuery) => ask<CostsBody>('/api/costs', { query: { ...query } }),
    costsCsv: (query: CostQuery) => ask<string>('/api/costs', { query: { ...query, format: 'csv' } }),
    budgets: () => ask<BudgetsBody>('/api/budgets'),
    setBudget: (b: { agent_name: string | null; period: 'day' | 'month'; limit_usd: number | null }) =>
      ask<BudgetsBody>('/api/budgets', { method: 'PUT', json: b }),
    morning: (since: string | null) => ask<MorningReport>('/api/morning', { query: { since } }),
    incidents: () => ask<{ open: number; incidents: IncidentBody[] }>('/api/incidents'),
    providers: () => ask<{ providers: ProviderBody[] }>('/api/providers'),
    pauseProvider: (provider: string, verb: 'pause' | 'resume') =>
      ask<{ provider: string; paused: boolean }>(`/api/providers/${id(provider)}/${verb}`, { method: 'POST' }),
    runners: () => ask<RunnerBody[]>('/api/runners'),
    credentials: () => ask<CredentialBody[]>('/api/subscriptions'),
    addCredential: (spec: NewCredentialBody) =>
      ask<CredentialBody>('/api/subscriptions', { method: 'POST', json: spec }),
    changeCredential: (
      idOrName: string,
      change: { token?: string; pool?: string | null; max_parallel?: number | null },
    ) => ask<CredentialBody>(`/api/subscriptions/${id(idOrName)}`, { method: 'PUT', json: change }),
    deleteCredential: (idOrName: string) =>
      ask<{ message: string }>(`/api/subscriptions/${id(idOrName)}`, { method: 'DELETE' }),
    /** What waits for a person; or all there is, newest first. */
    operatorItems: (all = false) =>
      ask<OperatorItemBody[]>('/api/operator-queue', { query: { status: all ? null : 'pending', limit: 500 } }),
    operatorItem: (itemId: string) => ask<OperatorItemBody>(`/api/operator-queue/${id(itemId)}`),
    respond: (itemId: string, b: { answer: string; note?: string }) =>
      ask<OperatorItemBody>(`/api/operator-queue/${id(itemId)}/respond`, { method: 'POST', json: b }),
    acknowledge: (itemId: string) =>
      ask<OperatorItemBody>(`/api/operator-queue/${id(itemId)}/acknowledge`, { method: 'POST' }),
    notifications: () => ask<NotifyBody>('/api/notifications'),
    setNotifications: (b: NewNotifyBody) => ask<NotifyBody>('/api/notifications', { method: 'PUT', json: b }),
    stopNotifications: () => ask<{ message: string }>('/api/notifications', { method: 'DELETE' }),
    testNotifications: () =>
      ask<{ delivered: boolean; status: number | null; error: string | null }>('/api/notifications/test', {
        method: 'POST',
      }),

    /** Every change in id order, for ever; goes on after drops where it stopped. */
    async *events(o: { after?: number; signal?: AbortSignal } = {}): AsyncGenerator<FeedItem> {
      const lines = follow(wire, '/api/events', {
        signal: o.signal,
        pause: rest,
        idleMs: world.idleMs,
        query: { after: o.after },
      });
      for await (const item of lines) {
        if (item.kind !== 'message') {
          yield item;
          continue;
        }
        const body = parsed(item.message.data);
        if (item.message.event === 'reset') yield { kind: 'reset', last: Number(body?.last ?? item.message.id ?? 0) };
        else if (typeof body?.type === 'string') yield { kind: 'event', event: body as unknown as EventRow };
      }
    },
    /** For routes without a method of their own. */
    request: <T>(path: string, o: Ask = {}) => request<T>(wire, path, o),
  };
};

export type Client = ReturnType<typeof client>;
