/**
 * The tables as Kysely sees them: one interface per table of migrations/, column by column. Only verbs use these; what leaves
 * the store has the shapes of contract/. Booleans are 0 and 1, JSON is text, times are integer ms.
 */
import type { Generated } from 'kysely';
import type { AgentRow } from '../contract/agent.ts';
import type { Cause } from '../contract/causes.ts';
import type { CredentialKind, CredentialState } from '../contract/credential.ts';
import type { EventType } from '../contract/events.ts';
import type { CostKind, ExecutionClass, ExecutionKind, ExecutionStatus, Trigger } from '../contract/execution.ts';
import type { WaitReason } from '../contract/limits.ts';
import type { NotificationRow, NotifyTargetRow, OperatorItemRow } from '../contract/operator.ts';
import type { Role } from '../contract/principal.ts';
import type { KeyRow } from './store.ts';

type Bit = 0 | 1;
export type Lane = 'interactive' | 'batch' | 'nested';

export interface Agents {
  id: string;
  name: string;
  owner_id: string;
  adapter: AgentRow['adapter'];
  type: string | null;
  model: string | null;
  workspace: string | null;
  executable: string | null;
  command: string | null;
  base_url: string | null;
  env: string;
  cpu: number | null;
  memory_bytes: number | null;
  max_parallel_tasks: number | null;
  max_backlog_depth: number | null;
  timeout_s: number | null;
  stall_s: number | null;
  custom_instructions: string | null;
  permission_mode: AgentRow['permission_mode'];
  allow_bypass_without_isolation: Generated<Bit>;
  allowed_tools: string | null;
  workspace_mode: AgentRow['workspace_mode'];
  pool: string | null;
  credential_id: string | null;
  desired_state: AgentRow['desired_state'];
  main_session_id: string | null;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

export interface Executions {
  id: string;
  agent_id: string;
  agent_name: string;
  kind: ExecutionKind;
  status: ExecutionStatus;
  triggered_by: Trigger;
  class: ExecutionClass;
  durable: Bit;
  depth: number;
  root_id: string;
  parent_execution_id: string | null;
  /** 1 = an open call waits for it now: nested work (F3). */
  awaited: Generated<Bit>;
  session_id: string | null;
  /** 1 = its session has another holder: it stands behind (F1). */
  behind: Generated<Bit>;
  behind_since: number | null;
  behind_ms: Generated<number>;
  cli_session_id: string | null;
  timeout_s: number;
  max_retries: number;
  queued_at: number;
  /** Wall clock of this stay in the queue; `eligible_at` is its start by the steady clock. */
  since_at: number;
  eligible_at: number;
  /** Queued ms of earlier stays: the budget counts them all as one. */
  waited_ms: Generated<number>;
  queue_budget_ms: number | null;
  expires_at: number | null;
  not_before: number | null;
  ripe_at: number | null;
  token: string | null;
  /** The newest attempt, also after it ended. */
  attempt_id: string | null;
  attempt: Generated<number>;
  runner_id: string | null;
  credential_id: string | null;
  started_at: number | null;
  waiting_since: number | null;
  completed_at: number | null;
  silent: Generated<Bit>;
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
  attention: Generated<string>;
  /** Where it stands; null while it stands in no lane (not queued, behind, or parked). Derived: the schema checks it. */
  lane: Lane | null;
}

export interface Texts {
  execution_id: string;
  message: string;
  options: string;
  response: string | null;
  error: string | null;
  verdict: string | null;
  wait_details: string | null;
}

export interface Attempts {
  id: string;
  execution_id: string;
  number: number;
  runner_id: string;
  credential_id: string | null;
  token: string;
  eligible_at: number;
  claimed_steady: number;
  claimed_at: number;
  begun_at: number | null;
  started_at: number | null;
  ended_at: number | null;
  lease_until: number;
  silent_at: number | null;
  host: string | null;
  pid: number | null;
  start_time: number | null;
  boot_id: string | null;
  cpu_ms: number | null;
  rss_bytes: number | null;
  verdict: string | null;
  decision: string | null;
  late: Generated<Bit>;
  cost_usd: number | null;
  cost_kind: CostKind | null;
}

export interface Sessions {
  id: string;
  agent_id: string;
  caller_session_id: string | null;
  cli_session_id: string | null;
  is_main: Generated<Bit>;
  cost_usd: Generated<number>;
  cli_cost_total: number | null;
  /** The tree of its last turn: the next one goes on from it. */
  kept_ref: string | null;
  message_count: Generated<number>;
  context_used: number | null;
  context_max: number | null;
  created_at: number;
  last_used_at: number;
  cleared_at: number | null;
}

export interface Runners {
  id: string;
  name: string;
  host: string | null;
  boot_id: string | null;
  version: string | null;
  isolation: string | null;
  cgroup: string | null;
  slots: number | null;
  labels: Generated<string>;
  room: string | null;
  last_seen: number | null;
  seen_steady: number | null;
  created_at: number;
}

export interface OperatorItems {
  id: string;
  kind: OperatorItemRow['kind'];
  subject: string;
  dedup_key: string;
  agent_name: string | null;
  execution_id: string | null;
  priority: OperatorItemRow['priority'];
  title: string;
  evidence: string;
  status: OperatorItemRow['status'];
  count: Generated<number>;
  answer: string | null;
  created_at: number;
  updated_at: number;
  last_at: number | null;
  quiet_ms: number | null;
  acknowledged_at: number | null;
  options: string | null;
  session_id: string | null;
  answered_by: string | null;
  note: string | null;
  delivery: OperatorItemRow['delivery'];
  delivery_note: string | null;
  answer_execution_id: string | null;
}

export interface Database {
  meta: { key: string; value: string };
  agents: Agents;
  executions: Executions;
  execution_texts: Texts;
  attempts: Attempts;
  attempt_facts: { attempt_id: string; facts: string; stored_at: number };
  calls: {
    call_id: string;
    child_id: string;
    execution_id: string;
    token: string;
    opened_at: number;
    closed_at: number | null;
  };
  lanes: { agent_id: string; class: ExecutionClass; served: number };
  wait_spans: {
    agent_id: string;
    class: Lane;
    from_at: number;
    to_at: number | null;
    reason: WaitReason;
  };
  sessions: Sessions;
  idempotency: { scope: string; key: string; body_hash: string; execution_id: string; stored_steady: number };
  events: {
    id: Generated<number>;
    at: number;
    type: EventType;
    execution_id: string | null;
    agent_name: string | null;
    data: string;
  };
  credentials: {
    id: string;
    name: string;
    kind: CredentialKind;
    sealed: string | null;
    max_parallel: number | null;
    pool: string | null;
    state: CredentialState;
    until: number | null;
    last_evidence: string | null;
    last_used_at: number | null;
    created_at: number;
  };
  credential_events: {
    id: Generated<number>;
    at: number;
    credential_id: string;
    agent_name: string;
    execution_id: string;
    state: string;
    until: number | null;
    cause: string;
    evidence: string;
  };
  runners: Runners;
  operator_items: OperatorItems;
  streaks: { agent_id: string; cause: Cause; times: string };
  notify_targets: Omit<NotifyTargetRow, 'signed'> & { id: string; signed: Bit };
  notifications: Omit<NotificationRow, 'id' | 'item' | 'attempts'> & {
    id: Generated<number>;
    item: string;
    attempts: Generated<number>;
    due_steady: number;
  };
  settings: { key: string; value: string; updated_at: number };
  users: {
    id: string;
    username: string;
    email: string | null;
    role: Role;
    password_hash: string | null;
    created_at: number;
  };
  api_keys: {
    id: string;
    name: string;
    description: string | null;
    prefix: string;
    hash: string;
    scope: KeyRow['scope'];
    user_id: string | null;
    agent_id: string | null;
    created_at: number;
    last_used_at: number | null;
    revoked_at: number | null;
  };
  logins: { hash: string; user_id: string; created_at: number; expires_at: number };
  audit: { id: string; at: number; by_whom: string; action: string; target: string; data: string };
}
