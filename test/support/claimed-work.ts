/** A claim as the server would hand it out, with what a test wants otherwise. */
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';

let count = 0;

export const claimedWork = (
  over: Partial<Omit<ClaimedWork, 'agent'>> & { agent?: Partial<ClaimedWork['agent']> } = {},
): ClaimedWork => {
  const n = String(++count).padStart(6, '0');
  return {
    execution_id: `exec-${process.pid}-${n}`,
    attempt: `att-${process.pid}-${n}`,
    number: 1,
    token: `token-of-attempt-${n}`,
    kind: 'task',
    message: 'hello',
    options: {},
    cli_session_id: null,
    session_cost_before: null,
    credential: null,
    secrets: {},
    timeout_s: 60,
    depth: 0,
    lease_ms: 45_000,
    resume_ref: null,
    ...over,
    agent: {
      id: 'agent-1',
      name: 'tester',
      adapter: 'command',
      model: null,
      workspace: null,
      executable: null,
      command: null,
      base_url: null,
      env: {},
      memory_bytes: null,
      cpu: null,
      custom_instructions: null,
      permission_mode: 'acceptEdits',
      allowed_tools: null,
      workspace_mode: 'shared',
      max_parallel_tasks: 1,
      stall_s: null,
      ...over.agent,
    },
  };
};
