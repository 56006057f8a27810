/** Rows for tests and benches of the store: complete, plain, and overridden where it matters. */
import type { AgentRow } from '../../src/contract/agent.ts';
import type { ExecutionRequest } from '../../src/contract/execution.ts';
import type { RunnerRoom } from '../../src/contract/runner-protocol.ts';

export const newAgent = (over: Partial<AgentRow> & { id: string; name: string }): AgentRow => ({
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

export const newRequest = (over: Partial<ExecutionRequest> & { agent_name: string }): ExecutionRequest => ({
  kind: 'task',
  message: 'x',
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

/** More of everything than any test takes. */
export const wideRoom: RunnerRoom = {
  slots: 10_000,
  memory_total: 2 ** 40,
  memory_available: 2 ** 40,
  disk_total: 2 ** 44,
  disk_available: 2 ** 44,
};
