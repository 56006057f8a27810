/**
 * The whole schema of the first version. It forbids impossible rows: the list of states, finished exactly when terminal, a
 * token exactly while running or waiting, one holder per chat session. Forward only: never changed once released.
 *
 * Every index answers one question with literal states, because SQLite plans a bound state again on each run (17–20 µs
 * against 3.5) and does not use an index declared for two states when one is asked for.
 * Times end in no suffix and are wall-clock ms, except the steady ones: `eligible_at expires_at ripe_at behind_since
 * lease_until silent_at claimed_steady opened_steady`.
 */
import type { Words } from './words.ts';

/**
 * In the hot table instead of IN: SQLite builds a small tree for each list of an IN at each run of an insert or update, which
 * is a third of the time of an insert (13 µs against 9).
 */
const oneOf = (column: string, ...values: (string | number)[]): string =>
  `(${values.map((v) => `${column} = ${typeof v === 'number' ? v : `'${v}'`}`).join(' OR ')})`;
const live = oneOf('status', 'running', 'waiting');
const terminal = oneOf('status', 'success', 'failed', 'cancelled', 'skipped');

export const start = (w: Words): string[] => [
  `CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)${w.table}`,

  `CREATE TABLE agents (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    adapter TEXT NOT NULL,
    type TEXT,
    model TEXT,
    workspace TEXT,
    executable TEXT,
    command TEXT,
    base_url TEXT,
    env TEXT NOT NULL,
    cpu ${w.real},
    memory_bytes ${w.int},
    max_parallel_tasks ${w.int} CHECK (max_parallel_tasks >= 1),
    max_backlog_depth ${w.int} CHECK (max_backlog_depth >= 1),
    timeout_s ${w.int},
    custom_instructions TEXT,
    permission_mode TEXT,
    allow_bypass_without_isolation ${w.int} NOT NULL DEFAULT 0,
    allowed_tools TEXT,
    workspace_mode TEXT,
    pool TEXT,
    credential_id TEXT,
    desired_state TEXT NOT NULL CHECK (desired_state IN ('running', 'stopped')),
    main_session_id TEXT,
    created_at ${w.int} NOT NULL,
    updated_at ${w.int} NOT NULL,
    deleted_at ${w.int}
  )${w.table}`,
  // A deleted agent keeps its row for the attempts that still end; its name is free at once (drill 36).
  `CREATE UNIQUE INDEX agents_name ON agents (name) WHERE deleted_at IS NULL`,

  `CREATE TABLE executions (
    id TEXT NOT NULL PRIMARY KEY,
    agent_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK ${oneOf('kind', 'chat', 'task')},
    status TEXT NOT NULL CHECK ${oneOf('status', 'queued', 'running', 'waiting', 'success', 'failed', 'cancelled', 'skipped')},
    triggered_by TEXT NOT NULL,
    class TEXT NOT NULL CHECK ${oneOf('class', 'interactive', 'batch')},
    durable ${w.int} NOT NULL,
    depth ${w.int} NOT NULL CHECK (depth >= 0),
    root_id TEXT NOT NULL,
    parent_execution_id TEXT,
    awaited ${w.int} NOT NULL DEFAULT 0 CHECK ${oneOf('awaited', 0, 1)},
    session_id TEXT,
    behind ${w.int} NOT NULL DEFAULT 0 CHECK ${oneOf('behind', 0, 1)},
    behind_since ${w.int},
    behind_ms ${w.int} NOT NULL DEFAULT 0,
    cli_session_id TEXT,
    timeout_s ${w.int} NOT NULL,
    max_retries ${w.int} NOT NULL,
    queued_at ${w.int} NOT NULL,
    since_at ${w.int} NOT NULL,
    eligible_at ${w.int} NOT NULL,
    waited_ms ${w.int} NOT NULL DEFAULT 0,
    queue_budget_ms ${w.int},
    expires_at ${w.int},
    not_before ${w.int},
    ripe_at ${w.int},
    token TEXT,
    attempt_id TEXT,
    attempt ${w.int} NOT NULL DEFAULT 0,
    runner_id TEXT,
    credential_id TEXT,
    started_at ${w.int},
    waiting_since ${w.int},
    completed_at ${w.int},
    silent ${w.int} NOT NULL DEFAULT 0 CHECK ${oneOf('silent', 0, 1)},
    cancel_requested_at ${w.int},
    cause TEXT,
    duration_ms ${w.int} CHECK (duration_ms >= 0),
    queued_ms ${w.int} CHECK (queued_ms >= 0),
    cost_usd ${w.real},
    cost_kind TEXT CHECK ${oneOf('cost_kind', 'billed', 'notional', 'unknown')},
    tool_calls ${w.int},
    turns ${w.int},
    input_tokens ${w.int},
    output_tokens ${w.int},
    context_used ${w.int},
    context_max ${w.int},
    attention TEXT NOT NULL DEFAULT '[]',
    lane TEXT,
    CONSTRAINT lane_is_derived CHECK (coalesce(lane, '') =
      CASE WHEN status = 'queued' AND behind = 0 AND not_before IS NULL THEN
        CASE awaited WHEN 1 THEN 'nested' ELSE class END
      ELSE '' END),
    CONSTRAINT finished_is_terminal CHECK ((completed_at IS NOT NULL) = ${terminal}),
    CONSTRAINT token_is_live CHECK ((token IS NOT NULL) = ${live}),
    CONSTRAINT live_is_held CHECK (NOT ${live} OR (runner_id IS NOT NULL AND attempt_id IS NOT NULL AND behind = 0)),
    CONSTRAINT waiting_since_is_waiting CHECK ((waiting_since IS NOT NULL) = (status = 'waiting')),
    CONSTRAINT parked_is_queued CHECK ((not_before IS NULL) = (ripe_at IS NULL) AND (not_before IS NULL OR status = 'queued')),
    CONSTRAINT budget_is_queued CHECK (expires_at IS NULL OR status = 'queued'),
    CONSTRAINT cause_is_ending CHECK ((cause IS NOT NULL) = ${oneOf('status', 'success', 'failed', 'cancelled')}),
    CONSTRAINT cause_fits CHECK (cause IS NULL OR (status = 'success') = (cause = 'success')),
    CONSTRAINT cancel_fits CHECK (cause IS NULL OR (status = 'cancelled') = (cause = 'cancelled')),
    CONSTRAINT awaited_is_open CHECK (awaited = 0 OR (completed_at IS NULL AND parent_execution_id IS NOT NULL))
  )${w.keyed}`,
  // Lists by keyset, whole, per state and per agent.
  `CREATE INDEX executions_status ON executions (status, id)`,
  `CREATE INDEX executions_agent ON executions (agent_id, id)`,
  `CREATE INDEX executions_parent ON executions (parent_execution_id, id) WHERE parent_execution_id IS NOT NULL`,
  `CREATE INDEX executions_cause ON executions (cause, id) WHERE cause IS NOT NULL`,
  // The heads of the lanes; a claim reads one row per agent and lane. A column of its own, held by its CHECK, because only so
  // is the index covering (a place in line: 30 ns a row against 320; SQLite has no covering index on a computed column).
  `CREATE INDEX executions_lane ON executions (lane, agent_id, id) WHERE lane IS NOT NULL`,
  `CREATE INDEX executions_nested ON executions (lane, depth, agent_id, id) WHERE lane = 'nested'`,
  `CREATE INDEX executions_behind ON executions (agent_id, session_id, id) WHERE behind = 1 AND completed_at IS NULL`,
  `CREATE INDEX executions_parked ON executions (ripe_at, id, agent_id) WHERE ripe_at IS NOT NULL`,
  `CREATE INDEX executions_expiry ON executions (expires_at, id) WHERE expires_at IS NOT NULL`,
  // Use of the limits is counted from these two, never added and subtracted (F11).
  `CREATE INDEX executions_running ON executions (status, agent_id, credential_id, runner_id, class) WHERE status = 'running'`,
  `CREATE INDEX executions_waiting ON executions (status, agent_id, credential_id, runner_id, class) WHERE status = 'waiting'`,
  `CREATE INDEX executions_stopping ON executions (runner_id, id)
    WHERE cancel_requested_at IS NOT NULL AND completed_at IS NULL`,
  // Two holders of one session are impossible (F1). Open = not completed.
  `CREATE UNIQUE INDEX executions_turn ON executions (session_id) WHERE behind = 0 AND completed_at IS NULL`,
  `CREATE INDEX executions_ended ON executions (completed_at, id) WHERE completed_at IS NOT NULL`,

  `CREATE TABLE execution_texts (
    execution_id TEXT NOT NULL PRIMARY KEY,
    message TEXT NOT NULL,
    options TEXT NOT NULL,
    response TEXT,
    error TEXT,
    verdict TEXT,
    wait_details TEXT
  )${w.table}`,

  `CREATE TABLE attempts (
    id TEXT NOT NULL PRIMARY KEY,
    execution_id TEXT NOT NULL,
    number ${w.int} NOT NULL,
    runner_id TEXT NOT NULL,
    credential_id TEXT,
    token TEXT NOT NULL,
    eligible_at ${w.int} NOT NULL,
    claimed_steady ${w.int} NOT NULL,
    claimed_at ${w.int} NOT NULL,
    begun_at ${w.int},
    started_at ${w.int},
    ended_at ${w.int},
    lease_until ${w.int} NOT NULL,
    silent_at ${w.int},
    host TEXT,
    pid ${w.int},
    start_time ${w.int},
    boot_id TEXT,
    cpu_ms ${w.int},
    rss_bytes ${w.int},
    verdict TEXT,
    decision TEXT,
    late ${w.int} NOT NULL DEFAULT 0 CHECK (late IN (0, 1)),
    cost_usd ${w.real},
    cost_kind TEXT
  )${w.keyed}`,
  `CREATE UNIQUE INDEX attempts_execution ON attempts (execution_id, number)`,
  `CREATE INDEX attempts_lease ON attempts (lease_until, id) WHERE ended_at IS NULL`,
  `CREATE TABLE attempt_facts (
    attempt_id TEXT NOT NULL PRIMARY KEY,
    facts TEXT NOT NULL,
    stored_at ${w.int} NOT NULL
  )${w.table}`,

  // One row per child that an attempt waits for. Open while the child has not ended; "resume pending" is read from it.
  `CREATE TABLE calls (
    call_id TEXT NOT NULL,
    child_id TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    token TEXT NOT NULL,
    opened_at ${w.int} NOT NULL,
    closed_at ${w.int},
    PRIMARY KEY (call_id, child_id)
  )${w.keyed}`,
  `CREATE INDEX calls_open ON calls (execution_id, token) WHERE closed_at IS NULL`,
  `CREATE INDEX calls_child ON calls (child_id) WHERE closed_at IS NULL`,
  `CREATE INDEX calls_execution ON calls (execution_id, call_id)`,

  // served rises with each claim: the lane served longest ago goes first. spans say what bound a lane, and when.
  `CREATE TABLE lanes (
    agent_id TEXT NOT NULL,
    class TEXT NOT NULL,
    served ${w.int} NOT NULL,
    PRIMARY KEY (agent_id, class)
  )${w.keyed}`,
  `CREATE TABLE wait_spans (
    agent_id TEXT NOT NULL,
    class TEXT NOT NULL,
    from_at ${w.int} NOT NULL,
    to_at ${w.int},
    reason TEXT NOT NULL,
    PRIMARY KEY (agent_id, class, from_at)
  )${w.keyed}`,
  `CREATE INDEX wait_spans_open ON wait_spans (agent_id, class) WHERE to_at IS NULL`,
  `CREATE INDEX wait_spans_ended ON wait_spans (to_at) WHERE to_at IS NOT NULL`,

  `CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    agent_id TEXT NOT NULL,
    caller_session_id TEXT,
    cli_session_id TEXT,
    is_main ${w.int} NOT NULL DEFAULT 0,
    cost_usd ${w.real} NOT NULL DEFAULT 0,
    cli_cost_total ${w.real},
    kept_ref TEXT,
    message_count ${w.int} NOT NULL DEFAULT 0,
    context_used ${w.int},
    context_max ${w.int},
    created_at ${w.int} NOT NULL,
    last_used_at ${w.int} NOT NULL,
    cleared_at ${w.int}
  )${w.table}`,
  `CREATE INDEX sessions_agent ON sessions (agent_id, id)`,
  // One session per (caller's session, callee): memory goes on over turns and nothing is refused (F1).
  `CREATE UNIQUE INDEX sessions_caller ON sessions (caller_session_id, agent_id) WHERE caller_session_id IS NOT NULL`,

  `CREATE TABLE idempotency (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    stored_steady ${w.int} NOT NULL,
    PRIMARY KEY (scope, key)
  )${w.keyed}`,
  `CREATE INDEX idempotency_age ON idempotency (stored_steady)`,

  `CREATE TABLE events (
    id ${w.eventId},
    at ${w.int} NOT NULL,
    type TEXT NOT NULL,
    execution_id TEXT,
    agent_name TEXT,
    data TEXT NOT NULL
  )${w.table}`,

  `CREATE TABLE credentials (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    sealed TEXT,
    max_parallel ${w.int} CHECK (max_parallel >= 1),
    pool TEXT,
    state TEXT NOT NULL CHECK (state IN ('ok', 'limited', 'rejected', 'unknown')),
    until ${w.int},
    last_evidence TEXT,
    last_used_at ${w.int},
    created_at ${w.int} NOT NULL
  )${w.table}`,
  `CREATE TABLE credential_events (
    id ${w.eventId},
    at ${w.int} NOT NULL,
    credential_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    state TEXT NOT NULL,
    until ${w.int},
    cause TEXT NOT NULL,
    evidence TEXT NOT NULL
  )${w.table}`,

  `CREATE TABLE runners (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    host TEXT,
    boot_id TEXT,
    version TEXT,
    isolation TEXT,
    cgroup TEXT,
    slots ${w.int},
    labels TEXT NOT NULL DEFAULT '[]',
    room TEXT,
    last_seen ${w.int},
    seen_steady ${w.int},
    created_at ${w.int} NOT NULL
  )${w.table}`,

  `CREATE TABLE operator_items (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('alert', 'question', 'approval')),
    subject TEXT NOT NULL,
    dedup_key TEXT NOT NULL,
    agent_name TEXT,
    execution_id TEXT,
    priority TEXT NOT NULL CHECK (priority IN ('low', 'normal', 'high')),
    title TEXT NOT NULL,
    evidence TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'acknowledged', 'answered', 'closed')),
    count ${w.int} NOT NULL DEFAULT 1,
    answer TEXT,
    created_at ${w.int} NOT NULL,
    updated_at ${w.int} NOT NULL
  )${w.table}`,
  // subject = the agent's name, '' for the fleet: one open item per subject and key.
  `CREATE UNIQUE INDEX operator_items_open ON operator_items (subject, dedup_key) WHERE status = 'open'`,
  `CREATE INDEX operator_items_status ON operator_items (status, id)`,

  `CREATE TABLE settings (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, updated_at ${w.int} NOT NULL)${w.table}`,
  `CREATE TABLE users (
    id TEXT NOT NULL PRIMARY KEY,
    username TEXT NOT NULL UNIQUE,
    email TEXT,
    role TEXT NOT NULL CHECK (role IN ('owner', 'operator', 'viewer')),
    password_hash TEXT,
    created_at ${w.int} NOT NULL
  )${w.table}`,
  `CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT,
    prefix TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL CHECK (scope IN ('user', 'agent', 'runner', 'owner')),
    user_id TEXT,
    agent_id TEXT,
    created_at ${w.int} NOT NULL,
    last_used_at ${w.int},
    revoked_at ${w.int}
  )${w.table}`,
  `CREATE TABLE logins (
    hash TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    created_at ${w.int} NOT NULL,
    expires_at ${w.int} NOT NULL
  )${w.table}`,
  `CREATE INDEX logins_user ON logins (user_id)`,
  `CREATE TABLE audit (
    id TEXT NOT NULL PRIMARY KEY,
    at ${w.int} NOT NULL,
    by_whom TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    data TEXT NOT NULL
  )${w.table}`,
];
