/**
 * The bodies that page and CLI read, as api.md names them: times are ISO 8601 strings. Only what they use is written down;
 * a field that an older server does not send is optional, and readers treat it as not known.
 */
import type { Cause } from '../contract/causes.ts';
import type { CredentialKind, CredentialState } from '../contract/credential.ts';
import type { CostKind, ExecutionClass, ExecutionKind, ExecutionStatus, Trigger } from '../contract/execution.ts';
import type { WaitReason } from '../contract/limits.ts';
import type { CostGroup } from '../contract/money.ts';
import type { AnswerDelivery, ItemKind, ItemStatus, NotifyFormat, Severity } from '../contract/operator.ts';
import type { Role } from '../contract/principal.ts';
import type { Decision, Verdict } from '../contract/verdict.ts';
import type { IncidentState, WeatherFamily } from '../contract/weather.ts';

type Iso = string;

export interface WaitBody {
  reason: WaitReason;
  /** Its place in its lane, from 1. */
  position: number;
  lanes_ahead: number;
  since: Iso | null;
  until: Iso | null;
  /** `credentials_exhausted`: how each that it could be lent stands, or that there is none. */
  about: string | null;
}

export interface AttemptBody {
  id: string;
  number: number;
  runner_id: string | null;
  credential_id: string | null;
  claimed_at: Iso | null;
  begun_at: Iso | null;
  started_at: Iso | null;
  ended_at: Iso | null;
  verdict: Verdict | null;
  decision: Decision | null;
  late: boolean;
  cost_usd: number | null;
  cost_estimated?: boolean;
  /** What of the facts is shown; absent until the attempt has ended. */
  memory?: { limit_bytes: number | null; peak_bytes: number | null; held_by: string } | null;
  workspace?: {
    mode: string;
    path: string;
    ref: string | null;
    commit: string | null;
    files_changed: number | null;
    insertions: number | null;
    deletions: number | null;
    keep_error: string | null;
  } | null;
  denied_tools?: string[];
  isolation?: string | null;
  exit_code?: number | null;
  signal?: string | null;
}

export interface ExecutionBody {
  id: string;
  agent_name: string;
  status: ExecutionStatus;
  /** `waiting` while blocked in a call to another agent, for pollers that only know `running`. */
  phase?: string | null;
  kind?: ExecutionKind;
  class?: ExecutionClass;
  depth?: number;
  parent_execution_id?: string | null;
  session_id?: string | null;
  cli_session_id?: string | null;
  message: string;
  response: string | null;
  error: string | null;
  cause: Cause | null;
  verdict: Verdict | null;
  secondary: Cause[];
  attention: string[];
  started_at: Iso | null;
  completed_at: Iso | null;
  queued_at: Iso;
  not_before?: Iso | null;
  cancel_requested_at?: Iso | null;
  duration_ms: number | null;
  queued_ms?: number | null;
  timeout_seconds?: number;
  triggered_by: Trigger;
  cost: number | null;
  cost_kind?: CostKind | null;
  /** Told with the attempts: some of it was summed from a stream at list prices. */
  cost_estimated?: boolean;
  context_used: number | null;
  context_max: number | null;
  input_tokens?: number | null;
  output_tokens?: number | null;
  tool_calls?: number | null;
  turns?: number | null;
  silent?: boolean;
  attempt?: number;
  attempts?: AttemptBody[];
  wait: WaitBody | null;
  /** What runs inside it now. */
  active_tool?: string | null;
}

export interface AgentBody {
  name: string;
  status: 'running' | 'stopped';
  type: string | null;
  owner: string | null;
  adapter?: string;
  model?: string | null;
  workspace?: string | null;
  max_parallel_tasks?: number | null;
  running?: number;
  waiting?: number;
  queued?: number;
}

export interface LimitsBody {
  agent_call_limit: number;
  agent_call_limit_source: 'setting' | 'environment' | 'default';
  queue_timeout_s: number;
  queue_timeout_source: 'setting' | 'environment' | 'default';
  ceiling: number;
  paused: boolean;
  running: number;
  waiting: number;
  queued: number;
  oldest_queued_at: Iso | null;
  waiting_by_reason: Partial<Record<WaitReason, number>>;
  agents: { agent_name: string; running: number; waiting: number; queued: number; max_parallel_tasks: number }[];
}

export interface IncidentBody {
  id: string;
  provider: string;
  family: WeatherFamily;
  cause: Cause;
  state: IncidentState;
  evidence: string;
  opened_at: Iso;
  closed_at: Iso | null;
  closed_why: string | null;
  failures: number;
  agents: string[];
  probes: number;
  probe: { attempt_id: string; execution_id: string } | null;
  next_at: Iso | null;
}

export interface CostQuery {
  group_by: string;
  from?: string | null;
  to?: string | null;
}
interface CostFigures {
  runs: number;
  unpriced_runs: number;
  cost_usd: number;
  cost_kind: CostKind;
  billed_usd: number;
  notional_usd: number;
  unknown_usd: number;
  estimated_usd: number;
  input_tokens: number;
  output_tokens: number;
}
export interface CostsBody {
  timezone: string;
  from: Iso;
  to: Iso;
  group_by: CostGroup[];
  costs: (CostFigures & Partial<Record<CostGroup, string | null>>)[];
  total: CostFigures;
}
export interface BudgetsBody {
  timezone: string;
  budgets: {
    agent_name: string | null;
    period: 'day' | 'month';
    limit_usd: number;
    spent_usd: number;
    reserved_usd: number;
    left_usd: number;
    expected_usd: number | null;
    used: number;
    period_start: Iso;
    period_end: Iso;
  }[];
}

/** What agents go to. */
export interface ProviderBody {
  provider: string;
  agents: string[];
  paused: boolean;
  paused_by: string | null;
  incident_id: string | null;
  running: number;
}

export interface NewCredentialBody {
  name: string;
  kind: CredentialKind;
  token?: string;
  pool?: string;
  max_parallel?: number;
}

/** Never the secret. */
export interface CredentialBody {
  id: string;
  name: string;
  kind: CredentialKind;
  state: CredentialState;
  until: Iso | null;
  last_evidence: string | null;
  last_used_at: Iso | null;
  max_parallel: number | null;
  /** Runs at once that its provider bears at present; null = no bound by that. */
  pace: number | null;
  headroom: { at: Iso; windows: { window: string; utilization: number | null; resets_at: Iso | null }[] } | null;
  pool: string | null;
  running: number;
  agents: string[];
  /** Of a secret just stored: it does not look like one of its kind. */
  warning?: string;
}

export interface OperatorItemBody {
  id: string;
  kind: ItemKind;
  priority: Severity;
  agent_name: string | null;
  execution_id: string | null;
  title: string;
  evidence: string[];
  status: ItemStatus;
  count: number;
  options: string[];
  answer: string | null;
  note: string | null;
  answered_by: string | null;
  delivery: AnswerDelivery | null;
  delivery_note: string | null;
  answer_execution_id: string | null;
  created_at: Iso;
  last_at: Iso;
}

export interface NotifyBody {
  configured: boolean;
  url: string | null;
  format: NotifyFormat | null;
  min_severity: Severity | null;
  signed: boolean;
  deliveries: {
    id: string;
    event: string;
    title: string;
    state: 'waiting' | 'sent' | 'gave_up';
    attempts: number;
    last_error: string | null;
    created_at: Iso;
  }[];
}

export interface NewNotifyBody {
  url: string;
  secret?: string;
  format: NotifyFormat;
  min_severity: Severity;
}

export interface RunnerBody {
  id: string;
  name: string;
  host: string | null;
  version: string | null;
  isolation: string | null;
  last_seen: Iso | null;
  slots?: number | null;
}

export interface UserBody {
  username: string;
  email: string | null;
  role: Role;
}

export interface StatsBody {
  by_status: Record<string, number>;
  by_cause: Record<string, number>;
  cost_usd: number;
}

export interface LogBody {
  execution_id: string;
  has_log: boolean;
  log: Record<string, unknown>[];
}

/** A finished synchronous answer of chat and task. */
export interface AnswerBody {
  response: string;
  session_id: string | null;
  timestamp: Iso;
  metadata: Record<string, unknown>;
  execution_log: unknown[];
}

/** Accepted, not ended: the row has this id whatever happens to the connection. */
export interface AcceptedBody {
  status: 'accepted' | 'queued';
  execution_id: string;
  agent_name: string;
  message: string;
  async_mode?: boolean;
}

export type TerminateBody = { status: 'terminated' | 'cancelled_while_queued' | 'already_finished' };

/** The tree an execution belongs to, from its root down. */
export interface ChainBody {
  execution_id: string;
  parents: string[];
  children: string[];
  executions: {
    id: string;
    agent_name: string;
    status: ExecutionBody['status'];
    depth: number;
    parent_execution_id: string | null;
    waits_for: string[];
    cost: number | null;
  }[];
  open: number;
  cost: number | null;
  cost_kind: ExecutionBody['cost_kind'];
  /** There are more than one answer shows. */
  more: boolean;
}
