/**
 * Facts → verdict → decision → record: the one tail where every ending meets (R4). What the facts mean is decided in
 * `outcome/`, pure; `settle` writes it by compare-and-set on id, token and status, with its events in the same transaction.
 * A result is never refused: late facts are kept and shown, and the state stays (R23).
 */
import { inForce } from '../contract/agent.ts';
import type { Facts } from '../contract/facts.ts';
import type { FactsAnswer } from '../contract/runner-protocol.ts';
import type { Verdict } from '../contract/verdict.ts';
import { decide } from '../outcome/decide.ts';
import { diagnose } from '../outcome/diagnose.ts';
import { operatorItems, repeatedItem } from '../outcome/operator-item.ts';
import { weatherOf } from '../outcome/weather.ts';
import { commit } from '../record/commit.ts';
import { runCost } from '../record/cost.ts';
import type { SettleArgs } from '../store/store.ts';
import type { Deps } from './deps.ts';

export const finish = async (
  deps: Deps,
  attemptId: string,
  { token, facts }: { token: string; facts: Facts },
): Promise<FactsAnswer> => {
  const known = await deps.store.read('attempt_for_finish', { attempt_id: attemptId });
  if (known === null) return { result: 'lost' };
  const { attempt, execution, agent, credential } = known;
  const now = deps.kernel.clock.now();
  const verdict = diagnose(facts, { permissionMode: inForce(agent).permission_mode, now });
  const decision = decide(verdict, {
    execution_id: execution.id,
    // What was parked is no try.
    attempt: attempt.number - execution.parked,
    max_retries: execution.max_retries,
    now,
    cancel_requested: execution.cancel_requested_at !== null,
    started: facts.spawned_at !== null,
  });
  // What is tried again needs nobody yet.
  const items = decision.kind === 'end' ? operatorItems(verdict, facts, agent) : [];
  const repeated = repeatedItem(verdict, facts, agent);
  const id = () => deps.kernel.ids.next(now);
  const { result } = await commit(deps, 'settle', {
    attempt_id: attemptId,
    token,
    facts,
    verdict,
    decision,
    ...runCost(facts.stream, known.session_cost_before, credential?.kind ?? null),
    operator_items: items.map((item) => ({ id: id(), ...item })),
    repeated: repeated && { id: id(), ...repeated },
    weather: weatherOf(verdict),
    credential_event: credentialEvent(verdict),
  });
  return { result };
};

/** Evidence against the credential: only from causes that may switch, with proof that the model API spoke (R36). */
const credentialEvent = (v: Verdict): SettleArgs['credential_event'] =>
  v.switch_credential !== true
    ? null
    : {
        state: v.cause === 'usage_limit' ? 'limited' : 'rejected',
        until: v.reset_at,
        evidence: v.evidence[0] ?? v.cause,
      };
