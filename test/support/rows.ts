/** Complete, plain rows and arguments for tests and benches; a test overrides what it is about. */
import type { FullExecution } from '../../src/api/present/execution.ts';
import type { AgentRow } from '../../src/contract/agent.ts';
import type { AttemptRow, ExecutionRequest } from '../../src/contract/execution.ts';
import type { RunnerRoom } from '../../src/contract/runner-protocol.ts';
import type { Verdict } from '../../src/contract/verdict.ts';
import type { EnqueueArgs } from '../../src/store/store.ts';

export const anAgent = (over: Partial<AgentRow> & { id: string; name: string }): AgentRow => ({
  owner_id: 'owner',
  adapter: 'command',
  type: null,
  model: null,
  workspace: null,
  executable: null,
  command: ['true'],
  base_url: null,
  env: {},
  cpu: null,
  memory_bytes: null,
  max_parallel_tasks: null,
  max_backlog_depth: null,
  timeout_s: null,
  stall_s: null,
  custom_instructions: null,
  permission_mode: null,
  allow_bypass_without_isolation: false,
  allowed_tools: null,
  workspace_mode: null,
  pool: null,
  credential_id: null,
  desired_state: 'running',
  main_session_id: null,
  created_at: 0,
  updated_at: 0,
  ...over,
});

export const aRequest = (over: Partial<ExecutionRequest> & { agent_name: string }): ExecutionRequest => ({
  kind: 'task',
  message: 'do it',
  triggered_by: 'api',
  class: 'batch',
  durable: true,
  options: {},
  timeout_s: null,
  session_id: null,
  resume_session_id: null,
  parent_execution_id: null,
  idempotency_key: null,
  max_retries: null,
  ...over,
});

/** An enqueue of that request by a person; nothing binds it but what the test sets. */
export const anEnqueue = (
  over: Partial<Omit<EnqueueArgs, 'request'>> & { id: string; agent_id: string },
  request: Partial<ExecutionRequest> & { agent_name: string },
): EnqueueArgs => ({
  request: aRequest(request),
  caller: null,
  idempotency: null,
  queue_budget_ms: null,
  timeout_s: 3600,
  max_retries: 2,
  max_depth: 8,
  fresh_session_id: `s-${over.id}`,
  open_call: null,
  ...over,
});

export const anExecution = (over: Partial<FullExecution> = {}): FullExecution => ({
  id: '01abc',
  agent_id: 'a1',
  agent_name: 'writer',
  kind: 'task',
  status: 'running',
  triggered_by: 'api',
  class: 'interactive',
  durable: false,
  depth: 0,
  root_id: '01abc',
  parent_execution_id: null,
  session_id: 's1',
  cli_session_id: null,
  timeout_s: 3600,
  max_retries: 2,
  queued_at: 1_760_000_000_000,
  not_before: null,
  started_at: 1_760_000_001_000,
  completed_at: null,
  attempt: 1,
  parked: 0,
  runner_id: 'r1',
  credential_id: null,
  silent: false,
  cancel_requested_at: null,
  cause: null,
  duration_ms: null,
  queued_ms: null,
  cost_usd: null,
  cost_kind: null,
  tool_calls: null,
  turns: null,
  input_tokens: null,
  output_tokens: null,
  context_used: null,
  context_max: null,
  attention: [],
  message: 'do it',
  response: null,
  error: null,
  verdict: null,
  wait_details: null,
  ...over,
});

export const aVerdict = (over: Partial<Verdict> = {}): Verdict => ({
  cause: 'unknown',
  secondary: [],
  mechanism: null,
  confidence: 'proven',
  tier: null,
  evidence: [],
  retryable: false,
  switch_credential: null,
  reset_at: null,
  message: '',
  attention: [],
  ...over,
});

export const anAttempt = (over: Partial<AttemptRow> = {}): AttemptRow => ({
  id: 't1',
  execution_id: '01abc',
  number: 1,
  runner_id: 'r1',
  credential_id: null,
  claimed_at: 1_760_000_000_500,
  begun_at: 1_760_000_000_600,
  started_at: 1_760_000_001_000,
  ended_at: null,
  verdict: null,
  decision: null,
  late: false,
  cost_usd: null,
  ...over,
});

/** More of everything than any test takes. */
export const wideRoom: RunnerRoom = {
  slots: 10_000,
  memory_total: 2 ** 40,
  memory_available: 2 ** 40,
  disk_total: 2 ** 44,
  disk_available: 2 ** 44,
};
