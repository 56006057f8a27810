/**
 * Request → queue: the one way in for all work (R4), whatever its door. `admit` says who may and whether it makes sense;
 * `enqueue` stores the row and its event in one transaction, on disk before this returns. Nothing is started here.
 */
import { admit } from '../admission/admit.ts';
import { isRefusal } from '../contract/errors.ts';
import type { ExecutionRequest } from '../contract/execution.ts';
import { limits } from '../contract/limits.ts';
import { type Principal, principalScope } from '../contract/principal.ts';
import { queueBudgetMs } from '../queue/budget.ts';
import { commit } from '../record/commit.ts';
import type { EnqueueResult } from '../store/store.ts';
import type { Deps } from './deps.ts';

/** `bodyHash`: of what the client sent, so that a key used with another body is seen; null without an idempotency key. */
export const submit = async (
  deps: Deps,
  request: ExecutionRequest,
  principal: Principal,
  bodyHash: string | null,
): Promise<EnqueueResult> => {
  const admitted = await admit(deps, request, principal);
  if (isRefusal(admitted)) return admitted;
  const { agent, caller } = admitted;
  const fleet = await deps.fleetLimits();
  const now = deps.kernel.clock.now();
  return commit(deps, 'enqueue', {
    id: deps.kernel.ids.next(now),
    request: admitted.request,
    agent_id: agent.id,
    caller,
    idempotency:
      request.idempotency_key !== null && bodyHash !== null
        ? { scope: principalScope(principal), key: request.idempotency_key, body_hash: bodyHash }
        : null,
    queue_budget_ms: queueBudgetMs(request.durable, {
      queueTimeoutS: fleet.queue_timeout_s,
      queueTimeoutSetByHand: fleet.queue_timeout_source !== 'default',
      durableQueueTimeoutS: deps.config.durableQueueTimeoutS,
    }),
    timeout_s: admitted.request.timeout_s ?? agent.timeout_s ?? limits.timeoutS.default,
    max_retries: admitted.request.max_retries ?? limits.defaultRetries,
    max_depth: deps.config.maxCallDepth,
    fresh_session_id: deps.kernel.ids.next(now),
  });
};
