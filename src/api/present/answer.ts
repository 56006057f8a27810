/**
 * How a call that waited is answered: 200 with the agent's words, or the ending's own status, code and text from the table
 * of causes. Rendered from the row alone, so that a replay of an idempotency key gives the same body as the first answer.
 */
import { type CauseRow, causes } from '../../contract/causes.ts';
import type { ExecutionRow } from '../../contract/execution.ts';
import type { WireError } from '../errors.ts';
import { iso } from '../route.ts';
import type { FullExecution } from './execution.ts';

interface QueuedAs {
  /** Its place in its lane when it was accepted, from 1; 0 = not known (a replay). */
  position: number;
}

/** A claim takes milliseconds: who waited for a second waited for something. */
const waitedMs = 1_000;

/** For a chat: the session to go on with. For a task, which has a fresh one: what `resume_session_id` takes. */
const sessionOf = (row: ExecutionRow): string | null =>
  row.kind === 'chat' ? row.session_id : (row.cli_session_id ?? row.session_id);

export const presentAnswer = (row: FullExecution, log: Record<string, unknown>[], queued: QueuedAs) => ({
  response: row.response ?? '',
  session_id: sessionOf(row),
  timestamp: iso(row.completed_at ?? row.queued_at),
  task_execution_id: row.id,
  metadata: {
    cost_usd: row.cost_usd,
    cost_kind: row.cost_kind,
    duration_ms: row.duration_ms,
    queued_ms: row.queued_ms,
    num_turns: row.turns,
    tool_calls: row.tool_calls,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    context_used: row.context_used,
    context_max: row.context_max,
    cli_session_id: row.cli_session_id,
    attention: row.attention,
  },
  execution_log: log,
  execution: {
    id: row.id,
    queue_status: queueStatus(queued),
    was_queued: queued.position > 1 || (row.queued_ms ?? 0) >= waitedMs,
    status: row.status,
    cause: row.cause,
  },
});

const queueStatus = ({ position }: QueuedAs): string => (position > 1 ? `queued:${position}` : 'running');

/** Accepted and going on: by wish of the client (`async_mode`, `Prefer: wait=`), because it waits for a far reset, or because the server goes down. */
export const presentAccepted = (row: ExecutionRow, message: string, queued: QueuedAs) => ({
  status: queued.position > 1 ? ('queued' as const) : ('accepted' as const),
  execution_id: row.id,
  agent_name: row.agent_name,
  message,
  async_mode: true,
  session_id: row.session_id,
  execution: { id: row.id, queue_status: queueStatus(queued), was_queued: queued.position > 1, status: row.status },
});

/** An ending that is not a success, as an error of the wire. `now`: for the distance to a known reset. */
export const presentEnding = (row: FullExecution, now: number): WireError => {
  const cause = row.cause ?? 'unknown';
  const table: CauseRow = causes[cause];
  const resetAt = row.verdict?.reset_at ?? null;
  return {
    // A cause that is a success cannot come with a failed row; if it ever does, it must not read as one.
    status: table.status < 400 ? 502 : table.status,
    code: cause,
    short: table.short,
    message: row.error ?? [table.title, table.advice].filter((t) => t !== '').join('. '),
    retryable: row.verdict === null ? table.retryable : table.retryable && row.verdict.retryable,
    retryAfterMs: resetAt !== null && resetAt > now ? resetAt - now : null,
    details: {
      execution_id: row.id,
      agent_name: row.agent_name,
      status: row.status,
      title: table.title,
      advice: table.advice,
      secondary: row.verdict?.secondary ?? [],
      confidence: row.verdict?.confidence ?? null,
      mechanism: row.verdict?.mechanism ?? null,
      evidence: row.verdict?.evidence ?? [],
      session_id: sessionOf(row),
      response: row.response,
      cost_usd: row.cost_usd,
      duration_ms: row.duration_ms,
      queued_ms: row.queued_ms,
      ...(cause === 'call_budget_exhausted' && { type: 'BackendAgentCallBudgetExhausted' }),
      ...(row.wait_details !== null && { wait_details: row.wait_details }),
    },
    executionId: row.id,
  };
};
