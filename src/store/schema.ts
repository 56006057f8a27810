/**
 * The tables as Kysely sees them. A row that leaves the store has its shape in contract/ (or store.ts); its table is that shape
 * with booleans as 0 and 1 and lists and objects as JSON text, and the columns that stay inside. Times are integer ms.
 */
import type { Generated } from 'kysely';
import type { AgentRow } from '../contract/agent.ts';
import type { Cause } from '../contract/causes.ts';
import type { CredentialRow } from '../contract/credential.ts';
import type { FaultKind } from '../contract/credential-states.ts';
import type { EventRow } from '../contract/events.ts';
import type { AttemptRow, CostKind, ExecutionClass, ExecutionRow, ExecutionTexts } from '../contract/execution.ts';
import type { WaitReason } from '../contract/limits.ts';
import type { BudgetPeriod } from '../contract/money.ts';
import type { NotificationRow, NotifyTargetRow, OperatorItemRow } from '../contract/operator.ts';
import type { ScheduleRow } from '../contract/schedule.ts';
import type { IncidentState, WeatherFamily } from '../contract/weather.ts';
import type { WebhookRow } from '../contract/webhook.ts';
import type { CredentialEvent, CredentialSwitch } from './credential-verbs.ts';
import type { InviteRow } from './door-verbs.ts';
import type { KeyRow, LoginRow, RunnerRow, SessionRow, SettingRow, UserRow } from './rows.ts';

type Bit = 0 | 1;
export type Lane = 'interactive' | 'batch' | 'nested';

type Cell<V> = V extends boolean ? Bit : V extends string | number | null ? V : string;
type Stored<T> = { [K in keyof T]: Cell<T[K]> };
/** `K` may be left out of an insert: the migration gives it a default. */
type Defaulted<T, K extends keyof T> = Omit<T, K> & { [P in K]: Generated<T[P]> };

export type Agents = Defaulted<Stored<AgentRow>, 'allow_bypass_without_isolation' | 'tags'> & {
  deleted_at: number | null;
};

export type Executions = Defaulted<Stored<ExecutionRow>, 'attempt' | 'silent' | 'attention' | 'parked'> & {
  /** 1 = an open call waits for it now: nested work (F3). */
  awaited: Generated<Bit>;
  /** 1 = its session has another holder: it stands behind (F1). */
  behind: Generated<Bit>;
  behind_since: number | null;
  behind_ms: Generated<number>;
  /** Wall clock of this stay in the queue; `eligible_at` is its start by the steady clock. */
  since_at: number;
  eligible_at: number;
  /** Queued ms of earlier stays: the budget counts them all as one. */
  waited_ms: Generated<number>;
  queue_budget_ms: number | null;
  expires_at: number | null;
  ripe_at: number | null;
  token: string | null;
  /** The newest attempt, also after it ended. */
  attempt_id: string | null;
  waiting_since: number | null;
  fan_out_id: string | null;
  /** The id that the asker gave the task. */
  fan_out_item: string | null;
  /** Ms that its newest attempt has stood still in calls that are over. */
  called_ms: Generated<number>;
  /** Where it stands; null while it stands in no lane (not queued, behind, or parked). Derived: the schema checks it. */
  lane: Lane | null;
};

export type Texts = Stored<ExecutionTexts> & { execution_id: string; options: string };

export type Attempts = Defaulted<Stored<AttemptRow>, 'late'> & {
  token: string;
  eligible_at: number;
  claimed_steady: number;
  lease_until: number;
  silent_at: number | null;
  host: string | null;
  pid: number | null;
  start_time: number | null;
  boot_id: string | null;
  cpu_ms: number | null;
  rss_bytes: number | null;
  cost_kind: CostKind | null;
};

export type Sessions = Defaulted<Stored<SessionRow>, 'is_main' | 'cost_usd' | 'message_count'> & {
  caller_session_id: string | null;
  /** The tree of its last turn: the next one goes on from it. */
  kept_ref: string | null;
};

export type Credentials = Stored<CredentialRow>;

export interface CredentialFaults {
  credential_id: string;
  kind: FaultKind;
  state: 'limited' | 'rejected';
  until: number | null;
  at: number;
  again: number;
  cause: string | null;
  agent_id: string | null;
  evidence: string;
}

export type Runners = Defaulted<Stored<RunnerRow>, 'labels'> & { seen_steady: number | null };

export type Webhooks = Stored<WebhookRow>;
export type Schedules = Stored<ScheduleRow>;

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

export interface Incidents {
  id: string;
  provider: string;
  family: WeatherFamily;
  cause: Cause;
  state: IncidentState;
  evidence: string;
  opened_at: number;
  opened_steady: number;
  reopening_at: number | null;
  reopening_steady: number | null;
  closed_at: number | null;
  closed_steady: number | null;
  closed_why: string | null;
  next_at: number;
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
  fan_outs: {
    id: string;
    agent_id: string;
    agent_name: string;
    caller_execution_id: string | null;
    max_concurrency: number;
    tasks: number;
    created_at: number;
  };
  call_permissions: { agent_id: string; targets: string };
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
  events: Defaulted<Stored<EventRow>, 'id'>;
  credentials: Credentials;
  credential_events: Defaulted<CredentialEvent, 'id'>;
  credential_faults: CredentialFaults;
  credential_works: { credential_id: string; agent_id: string; at: number };
  credential_switches: Defaulted<CredentialSwitch & { agent_id: string }, 'id'>;
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
  incidents: Incidents;
  weather_failures: {
    id: Generated<number>;
    at: number;
    steady: number;
    provider: string;
    family: WeatherFamily;
    cause: Cause;
    agent_id: string;
    agent_name: string;
    execution_id: string;
    attempt_id: string;
    incident_id: string | null;
    cleared: Generated<Bit>;
  };
  incident_probes: {
    attempt_id: string;
    incident_id: string;
    execution_id: string;
    at: number;
    outcome: 'passed' | 'failed' | 'silent' | null;
  };
  cost_rows: {
    attempt_id: string;
    at: number;
    agent_id: string;
    agent_name: string;
    execution_id: string;
    credential_name: string | null;
    model: string | null;
    tags: string;
    cost_usd: number | null;
    cost_kind: CostKind;
    estimated: Bit;
    input_tokens: number;
    output_tokens: number;
  };
  morning_reports: {
    day: string;
    report: string;
    state: 'waiting' | 'sent' | 'gave_up';
    attempts: number;
    last_error: string | null;
    created_at: number;
    created_steady: number;
    due_steady: number;
  };
  budgets: { subject: string; period: BudgetPeriod; limit_usd: number; updated_at: number; updated_by: string };
  provider_pauses: { provider: string; paused_at: number; paused_by: string };
  invites: InviteRow;
  webhooks: Webhooks;
  schedules: Schedules;
  ticks: { schedule_id: string; fire_at: number; execution_id: string; ran: Bit; by_hand: Bit };
  settings: SettingRow;
  users: UserRow;
  api_keys: KeyRow;
  logins: LoginRow;
  audit: { id: string; at: number; by_whom: string; action: string; target: string; data: string };
}
