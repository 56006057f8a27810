/**
 * The store as the rest of the server sees it: verbs. Each write verb is one transaction, on disk before it answers; reads
 * go to a worker of their own and never wait for a write. No SQL leaves this folder, and none runs on the event loop.
 *
 * `at` in every write's arguments: `now` is the wall clock (what people read), `steady` never jumps (leases, budgets).
 */
import type { AgentRow } from '../contract/agent.ts';
import type { CredentialRow } from '../contract/credential.ts';
import type { Refusal } from '../contract/errors.ts';
import type { EventRow } from '../contract/events.ts';
import type {
  CostKind,
  ExecutionRequest,
  ExecutionRow,
  ExecutionStatus,
  ExecutionTexts,
  WaitInfo,
} from '../contract/execution.ts';
import type { Facts } from '../contract/facts.ts';
import type { WaitReason } from '../contract/limits.ts';
import type { LoginView } from '../contract/login-view.ts';
import type { NewOperatorItem } from '../contract/operator.ts';
import type { BeginAnswer, FactsAnswer, RenewItem, RenewResult, RunnerRoom } from '../contract/runner-protocol.ts';
import type { Tick } from '../contract/schedule.ts';
import type { Decision, Verdict } from '../contract/verdict.ts';
import type { WeatherFamily } from '../contract/weather.ts';
import type { CredentialReads, CredentialWrites, LoginEvidence } from './credential-verbs.ts';
import type { DoorReads, DoorWrites } from './door-verbs.ts';
import type { HistoryReads } from './history-verbs.ts';
import type { MoneyReads, MoneyWrites } from './money-verbs.ts';
import type { MorningReads, MorningWrites } from './morning-verbs.ts';
import type { OperatorReads, OperatorWrites } from './operator-verbs.ts';
import type { FleetLimits, KeyRow, LoginRow, RunnerAbout, RunnerRow, SessionRow, SettingRow, UserRow } from './rows.ts';
import type { ScheduleReads, ScheduleWrites } from './schedule-verbs.ts';
import type { WeatherReads, WeatherWrites } from './weather-verbs.ts';

export interface At {
  now: number;
  steady: number;
}

/** What every write verb also tells: that something may have become claimable, and who ended. Read by `dispatch/`. */
export interface Stirred {
  /** A slot may be free or a row claimable: look again. */
  claimable: boolean;
  /** Executions that became terminal in this transaction (cascades too). */
  ended: string[];
  /** Executions that a runner must be told to stop, with their runner. */
  stops: { execution_id: string; runner_id: string }[];
  /** Waiting executions that run again: their answers may be handed back. */
  resumed: string[];
  /** Executions that stand in the queue again: who holds a line for one may be told of a long wait. */
  requeued: string[];
  /** The newest event id after the commit. */
  last_event: number;
  /** A fleet limit or the pause changed: values kept in memory are stale. */
  limits_changed?: boolean;
  /** A notification waits to be sent. */
  notices?: boolean;
  /** An agent was made, changed or taken away: agents kept in memory are stale. */
  agents_changed?: boolean;
  /** A schedule was made, changed or taken away: another tick may be the next one. */
  schedules_changed?: boolean;
}

export interface EnqueueArgs {
  id: string;
  request: ExecutionRequest;
  agent_id: string;
  /** Set for work that an execution asks for: its id and attempt token, checked in the transaction (F10). */
  caller: { execution_id: string; token: string } | null;
  /** Idempotency scope and hash of the body; null without a key. */
  idempotency: { scope: string; key: string; body_hash: string } | null;
  /** null = for ever. */
  queue_budget_ms: number | null;
  timeout_s: number;
  max_retries: number;
  max_depth: number;
  /** Id for a fresh chat session, used when one is needed. */
  fresh_session_id: string;
  /** The caller waits for it: the call is opened in the same transaction (R17). */
  open_call: string | null;
  /** The tick of a schedule that it is. */
  tick?: Tick | null;
}
/** A batch: all its executions, or none. */
export interface FanOutArgs {
  id: string;
  agent_id: string;
  max_concurrency: number;
  items: (EnqueueArgs & { item: string })[];
  caller: EnqueueArgs['caller'];
  idempotency: EnqueueArgs['idempotency'];
  open_call: string | null;
}
export interface FanOutRow {
  id: string;
  agent_id: string;
  agent_name: string;
  caller_execution_id: string | null;
  max_concurrency: number;
  tasks: number;
  created_at: number;
}
export type EnqueueResult = { execution: ExecutionRow; replay: boolean; queue_position: number } | Refusal;

interface ClaimNextArgs {
  runner_id: string;
  room: RunnerRoom;
  about: RunnerAbout;
  max: number;
  lease_ms: number;
  /** Attempt ids and tokens for up to `max` claims. */
  fresh: { attempt_id: string; token: string }[];
  limits: ClaimLimits;
}
/** Values of the start; stored settings win over `agent_call_limit` and `queue_timeout_s`. */
export interface ClaimLimits {
  agent_call_limit: number;
  max_depth: number;
  memory_floor: number;
  disk_floor_bytes: number;
}
export interface ClaimRow {
  execution: ExecutionRow;
  agent: AgentRow;
  attempt_id: string;
  token: string;
  message: string;
  options: ExecutionRequest['options'];
  credential: CredentialRow | null;
  /** Kind `env`, of this agent alone: lent besides. */
  secrets: CredentialRow[];
  session_cost_before: number | null;
  resume_ref: string | null;
}
export interface ClaimNextResult {
  claims: ClaimRow[];
  /** Waiting executions that were given their slots back. */
  resumed: string[];
  /** Steady time at which something changes by itself (`not_before`, a lease); null = nothing. */
  next_wake: number | null;
  rows_scanned: number;
}

export interface SettleArgs {
  attempt_id: string;
  token: string;
  facts: Facts;
  verdict: Verdict;
  decision: Decision;
  /** This run's cost, and how sure it is. */
  cost_usd: number | null;
  cost_kind: CostKind | null;
  /** Summed from the stream, because the CLI was killed before it said. */
  cost_estimated: boolean;
  /** Raised with the ending. */
  operator_items: NewOperatorItem[];
  /** Raised besides when the ending is one of `itemLimits.streak` of its cause in a row; null = endings of it are not counted. */
  repeated: NewOperatorItem | null;
  /** Set when the ending is weather (R40): by `outcome/weather.ts` alone. */
  weather: { family: WeatherFamily; evidence: string } | null;
  /** Of the credential it was lent: appended whether or not switching is on. */
  login: LoginEvidence | null;
  /** The view that the decision was made on; null = it looked at none. */
  seen: (Pick<LoginView, 'version'> & Omit<ReadVerbs['login_view'][0], 'attempt_id'>) | null;
}
/**
 * `settled` the newest token and not terminal; `replayed` the same facts again; `late` terminal already: kept as late_outcome;
 * `lost` unknown token; `moved` what `seen` saw has changed, and nothing was written: decide again.
 */
type SettleResult = { result: FactsAnswer['result'] | 'moved'; execution: ExecutionRow | null };

/** name → [arguments, result]. Write verbs get `At` besides and return their result with what they stirred. */
export interface WriteVerbs
  extends DoorWrites,
    OperatorWrites,
    WeatherWrites,
    MoneyWrites,
    MorningWrites,
    ScheduleWrites,
    CredentialWrites {
  // -- the life of an execution
  enqueue: [EnqueueArgs, EnqueueResult];
  claim_next: [ClaimNextArgs, ClaimNextResult];
  /** The second gate: compare-and-set, refuses cancelled and reaped rows, renews the lease. */
  begin: [{ attempt_id: string; token: string; lease_ms: number }, BeginAnswer];
  renew: [
    {
      runner_id: string;
      room: RunnerRoom;
      lease_ms: number;
      attempts: RenewItem[];
    },
    RenewResult[],
  ];
  settle: [SettleArgs, SettleResult];
  /** queued → cancelled at once; running/waiting → the runner is told; the children of its open calls with it. */
  cancel: [
    { execution_id: string; by: string; reason: string | null },
    {
      result: 'terminated' | 'cancelled_while_queued' | 'already_finished' | 'not_found';
      execution: ExecutionRow | null;
    },
  ];
  clear_queue: [{ agent_id: string; by: string }, { cancelled: number }];
  /** Ends rows whose queue budget ran out, with their exact text; gives the next expiry. */
  expire_budgets: [{ limits: ClaimLimits; max: number }, { expired: string[]; next_expiry: number | null }];
  /** Marks silent, frees never-begun rows, ends proven-dead or graced-out attempts. Each row alone. */
  reap: [
    {
      lease_ms: number;
      grace_ms: number;
      same_host: { host: string; boot_id: string; alive: string[] } | null;
      max: number;
    },
    { silent: string[]; requeued: string[]; lost: string[] },
  ];
  /** Frees claims of a runner that it never began: those it does not hold, or those named. Its host counts: a key may be on two. */
  give_back: [
    { runner_id: string; host: string; claims: { not_in: string[] } | { in: string[] } },
    { given_back: string[] },
  ];
  /** A starting server gives every lease a whole term anew (R23). */
  adopt_leases: [{ lease_ms: number }, { adopted: number }];
  // -- calls between agents: yield and resume (R17)
  open_call: [
    { call_id: string; caller: { execution_id: string; token: string }; child_ids: string[] },
    { ok: true } | Refusal,
  ];
  /** The CLI gave it up: its children are cancelled, the caller runs at once. */
  abandon_call: [{ call_id: string; caller_token: string }, { ok: boolean }];
  /** The time of the wait is over: its children go on, the caller is resumed in its turn. */
  detach_call: [{ call_id: string; caller_token: string }, { ok: boolean }];
  enqueue_fan_out: [FanOutArgs, { fan_out: FanOutRow; executions: ExecutionRow[]; replay: boolean } | Refusal];
  cancel_fan_out: [{ id: string; by: string; reason: string | null }, { cancelled: number } | null];
  /** `null`: back to the default, every agent of the same owner. */
  put_permissions: [{ agent_id: string; targets: string[] | null }, { ok: true }];
  /** Marks a live execution for people, once per word. */
  mark_attention: [{ execution_id: string; token: string; attention: string }, { marked: boolean }];
  // -- agents, credentials, people, settings
  create_agent: [{ agent: AgentRow }, AgentRow | Refusal];
  update_agent: [
    { id: string; patch: Partial<Omit<AgentRow, 'id' | 'name' | 'owner_id' | 'created_at'>> },
    AgentRow | null,
  ];
  delete_agent: [{ id: string; by: string }, { deleted: boolean; cancelled: number }];
  put_setting: [{ key: string; value: string | null }, { ok: true }];
  set_paused: [{ paused: boolean; by: string }, { paused: boolean }];
  create_user: [{ user: UserRow }, UserRow | Refusal];
  /** Ends all sign-ins of the user. `first`: only when there is no password yet. */
  set_password: [{ user_id: string; password_hash: string; first?: boolean }, { ok: boolean }];
  create_login: [{ login: LoginRow }, { ok: true }];
  delete_login: [{ hash: string }, { ok: true }];
  create_key: [{ key: KeyRow }, KeyRow];
  touch_key: [{ id: string }, { ok: true }];
  revoke_key: [{ id: string; remove: boolean }, { found: boolean }];
  put_runner: [{ runner: RunnerRow }, RunnerRow];
  delete_runner: [{ id: string }, { deleted: boolean }];
  clear_chat: [{ agent_id: string }, { cleared: number }];
  audit: [{ id: string; by: string; action: string; target: string; data: Record<string, unknown> }, { ok: true }];
  /** Highest steady time of this installation, kept so that a restart never goes back (R8). */
  keep_clock: [{ steady: number }, { ok: true }];
  /** Closes the alert that no runner is there. */
  runner_is_here: [Record<string, never>, { ok: true }];
  /** Deletes old events, logs and terminal rows in small batches; returns how many are left to delete (at least). */
  retain: [{ events_before: number; executions_before: number; max: number }, { deleted: number; more: boolean }];
}

export interface ReadVerbs
  extends DoorReads,
    OperatorReads,
    HistoryReads,
    WeatherReads,
    MoneyReads,
    MorningReads,
    ScheduleReads,
    CredentialReads {
  agent_by_name: [{ name: string }, AgentRow | null];
  agents: [Record<string, never>, AgentRow[]];
  waits: [{ execution_ids: string[]; limits: ClaimLimits }, Record<string, WaitInfo>];
  /** Counts for page, metrics and doctor; from rows. */
  occupancy: [
    { limits: ClaimLimits },
    {
      fleet: { running: number; waiting: number; queued: number; oldest_queued_at: number | null };
      agents: { agent_id: string; running: number; waiting: number; queued: number }[];
      credentials: { credential_id: string; running: number }[];
      runners: { runner_id: string; live: number }[];
      waiting_by_reason: Partial<Record<WaitReason, number>>;
    },
  ];
  stats: [
    { since: number | null },
    { by_status: Record<string, number>; by_cause: Record<string, number>; cost_usd: number },
  ];
  events_after: [{ after: number; limit: number }, { events: EventRow[]; first: number | null; last: number }];
  long_waits: [
    { older_than: number; limits: ClaimLimits; limit: number },
    { execution_id: string; agent_name: string; waited_ms: number; reason: WaitReason }[],
  ];
  fleet_limits: [{ env_call_limit: number | null; env_queue_timeout_s: number | null }, FleetLimits];
  setting: [{ key: string }, SettingRow | null];
  settings: [Record<string, never>, SettingRow[]];
  user_by_name: [{ username: string }, UserRow | null];
  user: [{ id: string }, UserRow | null];
  users: [Record<string, never>, UserRow[]];
  login: [{ hash: string }, (LoginRow & { user: UserRow }) | null];
  key_by_hash: [{ hash: string }, KeyRow | null];
  keys: [Record<string, never>, KeyRow[]];
  /** The execution that a token of a live attempt speaks for (running or waiting, newest attempt); null = not any more. */
  caller: [
    { execution_id: string; token: string },
    { agent_id: string; agent_name: string; status: ExecutionStatus } | null,
  ];
  /** Ids of the agents it may call; null = every agent of the same owner. */
  permissions: [{ agent_id: string }, string[] | null];
  fan_out: [
    { id: string },
    { fan_out: FanOutRow; items: { item: string; execution: ExecutionRow & ExecutionTexts }[] } | null,
  ];
  /** The whole tree around an execution, oldest first, and who waits for whom now. */
  chain: [
    { execution_id: string; limit: number },
    {
      executions: ExecutionRow[];
      waits: { execution_id: string; child_id: string; since: number }[];
      more: boolean;
    } | null,
  ];
  /** Since when an execution waits in a call, for its attempt's token; null = it does not. */
  waiting_since: [{ execution_id: string }, { since: number; token: string; attention: string[] } | null];
  runners: [Record<string, never>, RunnerRow[]];
  /** Whether one was seen since that steady time, and whether its absence is told already. */
  runner_watch: [{ since: number }, { here: boolean; told: boolean }];
  sessions: [{ agent_id: string }, SessionRow[]];
  session: [{ id: string }, SessionRow | null];
  audit_log: [
    {
      limit: number;
      before: string | null;
      by?: string;
      action?: string;
      target?: string;
      since?: number;
      until?: number;
    },
    { id: string; at: number; by: string; action: string; target: string; data: Record<string, unknown> }[],
  ];
  clock_high_water: [Record<string, never>, number];
  newest_id: [Record<string, never>, string | null];
  /** Invariants on the live installation, each with what it found (doctor). */
  invariants: [{ limits: ClaimLimits }, { name: string; ok: boolean; found: string }[]];
  ping: [Record<string, never>, { ok: true; schema: number }];
}

export type Written<V extends keyof WriteVerbs> = { result: WriteVerbs[V][1]; stirred: Stirred };

export interface Store {
  /** Goes up with each write that has been answered: between two of the same number, reads say the same. */
  writes(): number;
  write<V extends keyof WriteVerbs>(verb: V, args: WriteVerbs[V][0] & At): Promise<Written<V>>;
  read<V extends keyof ReadVerbs>(verb: V, args: ReadVerbs[V][0]): Promise<ReadVerbs[V][1]>;
  /** Appends log entries of one attempt: durable before it answers; a repeat of stored seqs changes nothing. */
  appendLog(args: {
    attempt_id: string;
    execution_id: string;
    first_seq: number;
    entries: string[];
    now: number;
  }): Promise<number>;
  /**
   * A verified copy of everything stored, into the directory `to`, which is there and empty. Work goes on meanwhile. Throws a
   * Fault when it could not be made; what is in `to` is then worth nothing.
   */
  backUp(to: string): Promise<StoreCopy>;
  close(): Promise<void>;
}
export interface CopiedFile {
  name: string;
  bytes: number;
  sha256: string;
}
export interface StoreCopy {
  files: CopiedFile[];
  schema: number;
  executions: { total: number; queued: number; live: number };
}
