/** Closed lists of the contract in the words of the page. The types see to it that a new member gets its word. */
import type { ExecutionStatus, Trigger } from '../../../src/contract/execution.ts';

export const stateWords: Record<ExecutionStatus, string> = {
  queued: 'waiting',
  running: 'running',
  waiting: 'waiting for another agent',
  success: 'success',
  failed: 'failed',
  cancelled: 'cancelled',
  skipped: 'skipped',
};

export const triggerWords: Record<Trigger, string> = {
  manual: 'this page',
  api: 'the API',
  cli: 'the command line',
  mcp: 'MCP',
  agent: 'another agent',
  schedule: 'a schedule',
  webhook: 'a webhook',
  fan_out: 'a fan-out',
};
