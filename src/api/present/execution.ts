/**
 * An execution as its body on the wire (api.md, "Work"): one shape for every list and every single answer. Times are ISO
 * 8601, what was not measured is null. Pure: whoever calls it has read what it shows. Judges nothing: cause and verdict are
 * what `outcome/` wrote into the row.
 */
import type { Cause } from '../../contract/causes.ts';
import type { AttemptRow, ExecutionRow, ExecutionStatus, ExecutionTexts, WaitInfo } from '../../contract/execution.ts';
import type { Facts } from '../../contract/facts.ts';
import type { Decision, Verdict } from '../../contract/verdict.ts';
import { iso, isoOrNull } from '../route.ts';

export type FullExecution = ExecutionRow & ExecutionTexts;

interface Around {
  wait?: WaitInfo | null;
  attempts?: AttemptBody[];
  activeTool?: string | null;
  /** Which tick of which schedule it is. */
  tick?: { schedule_id: string; name: string | null; fire_at: number } | null;
  /** For pollers that do not know `waiting`: shown as `running`, with the phase beside it. */
  oldStatus?: boolean;
}

export const presentExecution = (row: FullExecution, around: Around = {}) => ({
  id: row.id,
  agent_name: row.agent_name,
  status: around.oldStatus === true ? oldStatus(row.status) : row.status,
  phase: phaseOf(row),
  kind: row.kind,
  class: row.class,
  message: row.message,
  response: row.response,
  error: row.error,
  cause: row.cause,
  verdict: row.verdict,
  secondary: row.verdict?.secondary ?? ([] as Cause[]),
  attention: row.attention,
  started_at: isoOrNull(row.started_at),
  completed_at: isoOrNull(row.completed_at),
  queued_at: iso(row.queued_at),
  not_before: isoOrNull(row.not_before),
  duration_ms: row.duration_ms,
  queued_ms: row.queued_ms,
  timeout_seconds: row.timeout_s,
  triggered_by: row.triggered_by,
  depth: row.depth,
  root_id: row.root_id,
  parent_execution_id: row.parent_execution_id,
  session_id: row.session_id,
  cli_session_id: row.cli_session_id,
  cost: row.cost_usd,
  cost_kind: row.cost_kind,
  context_used: row.context_used,
  context_max: row.context_max,
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  tool_calls: row.tool_calls,
  turns: row.turns,
  attempt: row.attempt,
  max_retries: row.max_retries,
  runner_id: row.runner_id,
  credential_id: row.credential_id,
  silent: row.silent,
  cancel_requested_at: isoOrNull(row.cancel_requested_at),
  wait_details: row.wait_details,
  wait: around.wait == null ? null : presentWait(around.wait),
  ...(around.activeTool !== undefined && { active_tool: around.activeTool }),
  ...(around.attempts !== undefined && {
    attempts: around.attempts,
    cost_estimated: around.attempts.some((a) => a.cost_estimated),
  }),
  ...(around.tick != null && {
    schedule: { id: around.tick.schedule_id, name: around.tick.name, fire_at: iso(around.tick.fire_at) },
  }),
});
export type ExecutionBody = ReturnType<typeof presentExecution>;

const oldStatus = (s: ExecutionStatus): ExecutionStatus => (s === 'waiting' ? 'running' : s);

const phaseOf = (row: ExecutionRow): 'waiting' | 'silent' | 'stopping' | null => {
  if (row.status !== 'running' && row.status !== 'waiting') return null;
  if (row.cancel_requested_at !== null) return 'stopping';
  if (row.status === 'waiting') return 'waiting';
  return row.silent ? 'silent' : null;
};

export const presentWait = (w: WaitInfo) => ({
  reason: w.reason,
  position: w.position,
  lanes_ahead: w.lanes_ahead,
  since: iso(w.since),
  until: isoOrNull(w.until),
  about: w.about,
});

export interface AttemptBody {
  id: string;
  number: number;
  runner_id: string;
  credential_id: string | null;
  claimed_at: string;
  begun_at: string | null;
  started_at: string | null;
  ended_at: string | null;
  verdict: Verdict | null;
  decision: Decision | null;
  late: boolean;
  cost_usd: number | null;
  /** Summed from its stream and list prices: the CLI did not live to say it (R41). */
  cost_estimated: boolean;
  /** What of the facts a person looks for; null until they are there. */
  exit_code: number | null;
  signal: string | null;
  stop_reason: string | null;
  pid: number | null;
  host: string | null;
  isolation: string | null;
  cli_version: string | null;
  model: string | null;
  permission_mode: string | null;
  denied_tools: string[];
  memory: Facts['memory'];
  /** The text of what changed is under `/api/executions/ID/diff`. */
  workspace: Omit<NonNullable<Facts['workspace']>, 'diff'> | null;
}

const withoutDiff = (workspace: Facts['workspace']): AttemptBody['workspace'] => {
  if (workspace === null) return null;
  const { diff: _, ...kept } = workspace;
  return kept;
};

export const presentAttempt = (a: AttemptRow, facts: Facts | null): AttemptBody => ({
  id: a.id,
  number: a.number,
  runner_id: a.runner_id,
  credential_id: a.credential_id,
  claimed_at: iso(a.claimed_at),
  begun_at: isoOrNull(a.begun_at),
  started_at: isoOrNull(a.started_at),
  ended_at: isoOrNull(a.ended_at),
  verdict: a.verdict,
  decision: a.decision,
  late: a.late,
  cost_usd: a.cost_usd,
  cost_estimated:
    a.cost_usd !== null && facts !== null && (facts.stream.cost_usd === null || facts.stream.cost_estimated),
  exit_code: facts?.exit_code ?? null,
  signal: facts?.signal ?? null,
  stop_reason: facts?.stop?.reason ?? null,
  pid: facts?.pid ?? null,
  host: facts?.host ?? null,
  isolation: facts?.isolation ?? null,
  cli_version: facts?.stream.cli_version ?? null,
  model: facts?.stream.model ?? null,
  permission_mode: facts?.stream.permission_mode ?? null,
  denied_tools: facts?.stream.denied_tools ?? [],
  memory: facts?.memory ?? null,
  workspace: withoutDiff(facts?.workspace ?? null),
});
