/**
 * Facts → verdict → decision → record: the one tail where every ending meets (R4). What the facts mean is decided in
 * `outcome/`, pure; `settle` writes it by compare-and-set on id, token and status, with its events in the same transaction.
 * A result is never refused: late facts are kept and shown, and the state stays (R23). A decision about a login is made on what is
 * known of the pool, and made again when that changed before it was written (R39).
 */
import { inForce } from '../contract/agent.ts';
import { faultOf } from '../contract/credential-states.ts';
import { Fault } from '../contract/errors.ts';
import type { Facts } from '../contract/facts.ts';
import type { LoginView } from '../contract/login-view.ts';
import type { NewOperatorItem } from '../contract/operator.ts';
import type { FactsAnswer } from '../contract/runner-protocol.ts';
import type { Verdict } from '../contract/verdict.ts';
import { decide } from '../outcome/decide.ts';
import { diagnose } from '../outcome/diagnose.ts';
import { blameOf } from '../outcome/login.ts';
import { loginItems, rejectedItem } from '../outcome/login-items.ts';
import { operatorItems, repeatedItem } from '../outcome/operator-item.ts';
import { planWindows } from '../outcome/plan-windows.ts';
import { weatherOf } from '../outcome/weather.ts';
import { commit } from '../record/commit.ts';
import { runCost } from '../record/cost.ts';
import type { SettleArgs } from '../store/store.ts';
import type { Deps } from './deps.ts';

/** Each time somebody else's ending was written in between: more than there are attempts at once is a fault. */
const decideMost = 1_000;

export const finish = async (
  deps: Deps,
  attemptId: string,
  given: { token: string; facts: Facts },
): Promise<FactsAnswer> => {
  for (let i = 0; i < decideMost; i++) {
    const result = await finishOnce(deps, attemptId, given);
    if (result !== 'moved') return { result };
  }
  throw new Fault('internal', `attempt ${attemptId} cannot be settled: what its decision looks at never stands still`);
};

const finishOnce = async (
  deps: Deps,
  attemptId: string,
  { token, facts }: { token: string; facts: Facts },
): Promise<FactsAnswer['result'] | 'moved'> => {
  const known = await deps.store.read('attempt_for_finish', { attempt_id: attemptId });
  if (known === null) return 'lost';
  const { attempt, execution, agent, credential, decided } = known;
  const now = deps.kernel.clock.now();
  const lent = credential?.kind ?? null;
  const verdict = diagnose(facts, { permissionMode: inForce(agent).permission_mode, lent, now });
  const view = await loginSeen(deps, attemptId, verdict);
  const login = view?.login ?? null;
  const decision = decide(verdict, {
    execution_id: execution.id,
    // What was parked is no try.
    attempt: attempt.number - execution.parked,
    max_retries: execution.max_retries,
    now,
    cancel_requested: execution.cancel_requested_at !== null,
    started: facts.spawned_at !== null,
    decided,
    login,
  });
  const blame = blameOf(verdict, login);
  // What is tried again needs nobody yet; what is the agent's own fault is told as that.
  const items = decision.kind === 'end' && blame !== 'agent' ? operatorItems(verdict, facts, agent) : [];
  const ofLogin = login === null ? [] : loginItems(verdict, login, agent, { blame, decision });
  const repeated = blame === 'agent' ? null : repeatedItem(verdict, facts, agent);
  const id = () => deps.kernel.ids.next(now);
  const { result } = await commit(deps, 'settle', {
    attempt_id: attemptId,
    token,
    facts,
    verdict,
    decision,
    ...runCost(facts.stream, known.session_cost_before, lent),
    operator_items: [...items, ...ofLogin].map((item) => ({ id: id(), ...item })),
    repeated: repeated && { id: id(), ...repeated },
    weather: weatherOf(verdict),
    login: evidenceOf(facts, verdict, login, (item) => ({ id: id(), ...item }), decision.kind === 'switch'),
    seen: view?.seen ?? null,
  });
  return result;
};

/** Only where the verdict blames a login: the store is asked once more then. */
const loginSeen = async (
  deps: Deps,
  attempt_id: string,
  { cause, switch_credential, reset_at }: Verdict,
): Promise<{ login: LoginView; seen: NonNullable<SettleArgs['seen']> } | null> => {
  const kind = faultOf[cause];
  if (switch_credential !== true || kind === undefined) return null;
  const args = { kind, cause, reset_at, limits: deps.claimLimits() };
  const login = await deps.store.read('login_view', { attempt_id, ...args });
  return login && { login, seen: { version: login.version, ...args } };
};

/** Of the credential it was lent. Signals, memory, deadlines, cancels and our own refusals say nothing of it (R36). */
const evidenceOf = (
  facts: Facts,
  verdict: Verdict,
  view: LoginView | null,
  item: (i: Omit<NewOperatorItem, 'id'>) => NewOperatorItem,
  switches: boolean,
): SettleArgs['login'] => {
  // What another login did is nothing that this one did.
  if (verdict.attention.includes('login_differs')) return null;
  const blame = blameOf(verdict, view);
  const kind = faultOf[verdict.cause];
  return {
    failure:
      view === null || kind === undefined || blame === 'nobody'
        ? null
        : {
            kind,
            reset_at: verdict.reset_at,
            evidence: verdict.evidence[0] ?? verdict.cause,
            blames: blame === 'agent' ? 'agent' : 'credential',
            // An ending tells of it itself.
            item: switches && verdict.cause !== 'usage_limit' ? item(rejectedItem(verdict, view)) : null,
          },
    worked: verdict.cause === 'success',
    throttled: verdict.cause === 'overloaded' || verdict.cause === 'rate_limited',
    windows: planWindows(facts.stream),
  };
};
