/**
 * Executions: one request to one agent, one row, one life.
 *
 *   queued ─claim→ running ⇄ waiting ─settle→ success | failed | cancelled
 *   queued ─→ cancelled | failed          running ─retry/park→ queued (not_before)          (skipped: born so)
 *
 * Terminal is final. Times are integer ms UTC; what was not measured is null.
 */
import { z } from 'zod';
import type { Cause } from './causes.ts';
import { limits, type WaitReason } from './limits.ts';
import { executionStatuses } from './status.ts';
import type { Decision, Verdict } from './verdict.ts';

export const ExecutionStatus = z.enum(executionStatuses);
export type ExecutionStatus = z.infer<typeof ExecutionStatus>;

const executionKinds = ['chat', 'task'] as const;
export type ExecutionKind = (typeof executionKinds)[number];
const triggers = ['manual', 'api', 'cli', 'mcp', 'agent', 'schedule', 'webhook', 'fan_out'] as const;
export const Trigger = z.enum(triggers);
export type Trigger = z.infer<typeof Trigger>;
export type ExecutionClass = 'interactive' | 'batch';
/** How sure a cost is (R41): on a bill, at list prices under a subscription, or neither is known. */
export type CostKind = 'billed' | 'notional' | 'unknown';

/** What the adapter gets besides the message: per request, over the agent's own values. */
export const RunOptions = z.object({
  model: z.string().max(200).nullish(),
  allowed_tools: z.array(z.string().max(500)).max(200).nullish(),
  system_prompt: z.string().max(100_000).nullish(),
  max_turns: z.number().int().min(1).max(10_000).nullish(),
});
export type RunOptions = z.infer<typeof RunOptions>;

/** The one shape in which work enters, whatever the door: HTTP, CLI, MCP, schedule, webhook (R4). */
export const ExecutionRequest = z.object({
  kind: z.enum(executionKinds),
  agent_name: z.string(),
  message: z.string(),
  triggered_by: Trigger,
  class: z.enum(['interactive', 'batch']),
  /** Nobody holds a connection for it: the durable queue budget applies (R12). */
  durable: z.boolean(),
  options: RunOptions,
  timeout_s: z.number().int().min(limits.timeoutS.min).max(limits.timeoutS.max).nullable(),
  /** Drover's chat session: an id, `null` = by the rule of R18 for the kind. */
  session_id: z.string().nullable(),
  /** A CLI session to resume, given by a client. */
  resume_session_id: z.string().nullable(),
  parent_execution_id: z.string().nullable(),
  idempotency_key: z.string().max(255).nullable(),
  max_retries: z.number().int().min(0).max(10).nullable(),
});
export type ExecutionRequest = z.infer<typeof ExecutionRequest>;

/** The hot row. Texts (message, response, log) live apart. */
export interface ExecutionRow {
  id: string;
  agent_id: string;
  agent_name: string;
  kind: ExecutionKind;
  status: ExecutionStatus;
  triggered_by: Trigger;
  class: ExecutionClass;
  durable: boolean;
  depth: number;
  root_id: string;
  parent_execution_id: string | null;
  session_id: string | null;
  /** The CLI's own session: resumed when set before the run, learnt from the run otherwise. */
  cli_session_id: string | null;
  timeout_s: number;
  max_retries: number;
  queued_at: number;
  not_before: number | null;
  started_at: number | null;
  completed_at: number | null;
  /** Attempts begun so far. */
  attempt: number;
  /** Of them, those that were parked (a known reset, an incident): they are no tries. */
  parked: number;
  runner_id: string | null;
  credential_id: string | null;
  silent: boolean;
  cancel_requested_at: number | null;
  cause: Cause | null;
  duration_ms: number | null;
  queued_ms: number | null;
  cost_usd: number | null;
  cost_kind: CostKind | null;
  tool_calls: number | null;
  turns: number | null;
  input_tokens: number | null;
  output_tokens: number | null;
  context_used: number | null;
  context_max: number | null;
  attention: string[];
}

export interface ExecutionTexts {
  message: string;
  response: string | null;
  error: string | null;
  verdict: Verdict | null;
  /** Wait in ms per reason, when a queue budget ended it. */
  wait_details: Record<string, number> | null;
}

export interface AttemptRow {
  id: string;
  execution_id: string;
  number: number;
  runner_id: string;
  credential_id: string | null;
  claimed_at: number;
  begun_at: number | null;
  started_at: number | null;
  ended_at: number | null;
  verdict: Verdict | null;
  decision: Decision | null;
  /** Facts that came after the row was terminal: stored, billed, shown; the state stays (R23). */
  late: boolean;
  cost_usd: number | null;
}

/** Why a queued row waits, and where it stands. */
export interface WaitInfo {
  reason: WaitReason;
  /** Its place in its lane, from 1. */
  position: number;
  lanes_ahead: number;
  since: number;
  until: number | null;
  /** For people. `credentials_exhausted`: what it could be lent and how each stands, or that there is nothing; `provider_paused`: which. */
  about: string | null;
}
