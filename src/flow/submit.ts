/**
 * Request → queue: the one way in for all work (R4), whatever its door. `admit` says who may and whether it makes sense;
 * `enqueue` stores the row and its event in one transaction, on disk before this returns. Nothing is started here. A batch is
 * admitted task by task and stored as a whole.
 */
import { type Admitted, admit } from '../admission/admit.ts';
import { queueBudgetMs } from '../admission/queue-budget.ts';
import { inForce } from '../contract/agent.ts';
import { isRefusal, type Refusal, refuse } from '../contract/errors.ts';
import type { ExecutionRequest } from '../contract/execution.ts';
import { limits } from '../contract/limits.ts';
import { type Principal, principalScope } from '../contract/principal.ts';
import type { Tick } from '../contract/schedule.ts';
import { commit } from '../record/commit.ts';
import type { FleetLimits } from '../store/rows.ts';
import type { EnqueueArgs, EnqueueResult, WriteVerbs } from '../store/store.ts';
import type { Deps } from './deps.ts';
import { unheldTask } from './unheld-task.ts';

/**
 * `bodyHash`: of what the client sent, so that a key used with another body is seen; null without an idempotency key.
 * `call`: the id under which the asking execution waits for it; null when it does not wait. `tick`: of which schedule it is one.
 */
export const submit = async (
  deps: Deps,
  request: ExecutionRequest,
  principal: Principal,
  bodyHash: string | null,
  call: string | null = null,
  tick: Tick | null = null,
): Promise<EnqueueResult> => {
  const admitted = await admit(deps, request, principal);
  if (isRefusal(admitted)) return admitted;
  const idempotency = keyOf(principal, admitted.request.idempotency_key, bodyHash);
  return commit(deps, 'enqueue', {
    ...stored(deps, admitted, await deps.fleetLimits()),
    idempotency,
    open_call: call,
    tick,
  });
};

export interface FanOutTask {
  id: string;
  message: string;
}
export type FanOutGiven = Exclude<WriteVerbs['enqueue_fan_out'][1], Refusal>;

export const submitFanOut = async (
  deps: Deps,
  batch: {
    agentName: string;
    tasks: FanOutTask[];
    maxConcurrency: number;
    timeoutS: number | null;
    key: string | null;
  },
  by: { principal: Principal; bodyHash: string | null },
  call: string | null,
): Promise<FanOutGiven | Refusal> => {
  const { tasks } = batch;
  const wrong = batchProblem(tasks);
  if (wrong) return wrong;
  const fleet = await deps.fleetLimits();
  const items: (EnqueueArgs & { item: string })[] = [];
  let first: Admitted | null = null;
  const request = (task: FanOutTask) =>
    unheldTask({
      agent_name: batch.agentName,
      message: task.message,
      triggered_by: 'fan_out',
      timeout_s: batch.timeoutS,
      idempotency_key: batch.key,
    });
  for (const task of tasks) {
    const admitted = await admit(deps, request(task), by.principal);
    if (isRefusal(admitted)) return admitted;
    first ??= admitted;
    items.push({ ...stored(deps, admitted, fleet), item: task.id });
  }
  return commit(deps, 'enqueue_fan_out', {
    id: deps.kernel.ids.next(deps.kernel.clock.now()),
    agent_id: first!.agent.id,
    max_concurrency: batch.maxConcurrency,
    items,
    caller: first!.caller,
    idempotency: keyOf(by.principal, batch.key, by.bodyHash),
    open_call: call,
  });
};

const batchProblem = (tasks: readonly FanOutTask[]): Refusal | null => {
  const { max } = limits.fanOutTasks;
  if (tasks.length > max)
    return refuse('fan_out_too_large', `A fan-out of ${tasks.length} tasks is too large: at most ${max} at once.`, {
      details: { tasks: tasks.length, max },
    });
  if (tasks.length === 0) return refuse('invalid', 'tasks is empty; name at least one {id, message}.');
  const twice = tasks.find((t, i) => tasks.findIndex((o) => o.id === t.id) !== i);
  return twice === undefined ? null : refuse('invalid', `tasks: the id "${twice.id}" is there twice.`);
};

const keyOf = (principal: Principal, key: string | null, body_hash: string | null): EnqueueArgs['idempotency'] =>
  key !== null && body_hash !== null ? { scope: principalScope(principal), key, body_hash } : null;

const stored = (deps: Deps, { agent, caller, request }: Admitted, fleet: FleetLimits): EnqueueArgs => {
  const now = deps.kernel.clock.now();
  return {
    id: deps.kernel.ids.next(now),
    request,
    agent_id: agent.id,
    caller,
    idempotency: null,
    queue_budget_ms: queueBudgetMs(request.durable, fleet, deps.config.durableQueueTimeoutS),
    timeout_s: request.timeout_s ?? inForce(agent).timeout_s,
    max_retries: request.max_retries ?? limits.defaultRetries,
    max_depth: deps.config.maxCallDepth,
    fresh_session_id: deps.kernel.ids.next(now),
    open_call: null,
  };
};
