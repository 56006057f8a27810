/**
 * Request → queue: the one way in for all work (R4), whatever its door. `admit` says who may and whether it makes sense;
 * `enqueue` stores the row and its event in one transaction, on disk before this returns. Nothing is started here.
 */
import { admit } from '../admission/admit.ts';
import { queueBudgetMs } from '../admission/queue-budget.ts';
import { inForce } from '../contract/agent.ts';
import { isRefusal } from '../contract/errors.ts';
import type { ExecutionRequest } from '../contract/execution.ts';
import { limits } from '../contract/limits.ts';
import { type Principal, principalScope } from '../contract/principal.ts';
import { commit } from '../record/commit.ts';
import type { EnqueueResult } from '../store/store.ts';
import type { Deps } from './deps.ts';

/** `bodyHash`: of what the client sent, so that a key used with another body is seen; null without an idempotency key. */
export const submit = async (
  deps: Deps,
  asked: ExecutionRequest,
  principal: Principal,
  bodyHash: string | null,
): Promise<EnqueueResult> => {
  const admitted = await admit(deps, asked, principal);
  if (isRefusal(admitted)) return admitted;
  const { agent, request, caller } = admitted;
  const fleet = await deps.fleetLimits();
  const now = deps.kernel.clock.now();
  return commit(deps, 'enqueue', {
    id: deps.kernel.ids.next(now),
    request,
    agent_id: agent.id,
    caller,
    idempotency:
      request.idempotency_key === null || bodyHash === null
        ? null
        : { scope: principalScope(principal), key: request.idempotency_key, body_hash: bodyHash },
    queue_budget_ms: queueBudgetMs(request.durable, fleet, deps.config.durableQueueTimeoutS),
    timeout_s: request.timeout_s ?? inForce(agent).timeout_s,
    max_retries: request.max_retries ?? limits.defaultRetries,
    max_depth: deps.config.maxCallDepth,
    fresh_session_id: deps.kernel.ids.next(now),
  });
};
