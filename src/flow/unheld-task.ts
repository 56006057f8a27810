/**
 * A task that nobody holds a connection for: a tick of a schedule, a call of a webhook, an item of a batch. It waits by the durable
 * budget of the queue (R12), behind what people wait for, in a conversation of its own. What is not said is the agent's own.
 */
import type { ExecutionRequest } from '../contract/execution.ts';

type Said = Pick<ExecutionRequest, 'agent_name' | 'message' | 'triggered_by'> &
  Partial<Pick<ExecutionRequest, 'options' | 'timeout_s' | 'idempotency_key' | 'max_retries'>>;

export const unheldTask = (said: Said): ExecutionRequest => ({
  kind: 'task',
  class: 'batch',
  durable: true,
  options: {},
  timeout_s: null,
  session_id: null,
  resume_session_id: null,
  parent_execution_id: null,
  idempotency_key: null,
  max_retries: null,
  ...said,
});
