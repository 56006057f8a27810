/**
 * Claim: the one gate from queued to running. All limits, lending included, are evaluated in this one transaction with their
 * present values; the policy is `store/claim/`, pure. A row and its slots are taken together, and resumes go before claims.
 */

import { earliestReset } from '../claim/lend.ts';
import { next, servedKey } from '../claim/order.ts';
import { heldByBudget, reserve } from '../claim/spending.ts';
import { weatherClears } from '../claim/weather.ts';
import { addLive, addRunning, type World } from '../claim/world.ts';
import type { ClaimNextResult, ClaimRow } from '../store.ts';
import type { Tx, WriteVerb } from '../tx.ts';
import { tellHeld } from './budgets.ts';
import { afterHead, type LoadedQueue, loadQueue } from './claim-queue.ts';
import { laneServed, saveClaimState } from './claim-state.ts';
import { loadWorld, runnerFrom } from './claim-world.ts';
import { ripeNext, ripen } from './ripen.ts';
import { runnerSeen } from './runner-seen.ts';
import { startAttempt } from './start-attempt.ts';
import { keepLimits, takeResume } from './take-resumes.ts';
import { recordSpans } from './wait-spans.ts';
import { gateTaken, passWeather } from './weather.ts';

export const claimNext: WriteVerb<'claim_next'> = async (tx, args) => {
  const host = await runnerSeen(tx, args.runner_id, args.room, args.about);
  await keepLimits(tx, args.limits);
  const ripened = await ripen(tx);
  await passWeather(tx);
  const { world, scanned: counted } = await loadWorld(tx, args.limits);
  const { queue, state, scanned: looked } = await loadQueue(tx);
  const before = JSON.stringify(state);
  const runner = runnerFrom(args.runner_id, args.room);
  const claims: ClaimRow[] = [];
  const resumed: string[] = [];
  let more = 0;

  for (;;) {
    const chosen = next(world, { ...queue, nestedInRow: state.nested }, runner);
    if (!chosen) break;
    if (chosen.kind === 'resume') {
      await takeResume(tx, world, chosen.pending, queue.pending, state);
      resumed.push(chosen.pending.id);
      continue;
    }
    const fresh = args.fresh[claims.length];
    if (claims.length >= args.max || !fresh) break;
    const { head, credential_id } = chosen;
    const started = await tx.alone(() =>
      startAttempt(tx, {
        execution_id: head.id,
        runner: { id: args.runner_id, host },
        credential_id,
        ...fresh,
        lease_ms: args.lease_ms,
      }),
    );
    if (!started.ok) {
      tx.odd(`execution ${head.id} cannot be claimed`, started.error);
      more += await replace(tx, queue, head);
      continue;
    }
    const claim = started.value;
    claims.push(claim);
    const held = { agent_id: head.agent_id, credential_id, runner_id: runner.id, class: claim.execution.class, n: 1 };
    addRunning(world, held);
    addLive(world, held);
    await gateTaken(tx, world.gates.get(head.agent_id), { attempt_id: claim.attempt_id, execution_id: head.id });
    reserve(world, head.agent_id);
    const lent = world.credentials.find((c) => c.id === credential_id);
    if (lent) lent.last_used_at = tx.at.now;
    if (chosen.kind === 'root') {
      state.nested = 0;
      state.root_due_at = null;
      state.served += 1;
      queue.served.set(servedKey(head.agent_id, head.as), state.served);
      await laneServed(tx, { agent_id: head.agent_id, class: head.as, served: state.served });
    } else state.nested += 1;
    more += await replace(tx, queue, head);
  }

  if (JSON.stringify(state) !== before) await saveClaimState(tx, state);
  const heads = [...queue.children, ...queue.roots];
  await recordSpans(tx, world, heads);
  await tellHeld(
    tx,
    world,
    heads.map((h) => h.agent_id),
  );
  return {
    claims,
    resumed,
    next_wake: await nextWake(tx, world, queue),
    rows_scanned: counted + looked + ripened + more,
  };
};

/** The row behind the one that was taken becomes the head. */
const replace = async (
  tx: Tx,
  queue: LoadedQueue['queue'],
  taken: LoadedQueue['queue']['roots'][number],
): Promise<number> => {
  const heads = taken.nested ? queue.children : queue.roots;
  heads.splice(heads.indexOf(taken), 1);
  const behind = await afterHead(tx, taken);
  if (!behind) return 0;
  heads.push(behind);
  if (taken.nested) heads.sort((a, b) => (a.id < b.id ? -1 : 1));
  return 1;
};

/** When something becomes claimable by time alone: a parked row, the reset of a credential that a lane waits for, a probe. */
const nextWake = async (tx: Tx, w: World, queue: LoadedQueue['queue']): Promise<ClaimNextResult['next_wake']> => {
  const wakes: number[] = [];
  const ripe = await ripeNext(tx);
  if (ripe !== null) wakes.push(ripe);
  for (const head of [...queue.children, ...queue.roots]) {
    const agent = w.agents.get(head.agent_id);
    const reset = agent ? earliestReset(w, agent) : null;
    if (reset !== null && reset > w.now) wakes.push(tx.at.steady + reset - w.now);
    const clears = weatherClears(w, head.agent_id);
    if (clears !== null) wakes.push(clears);
    const held = heldByBudget(w, head.agent_id);
    if (held !== null) wakes.push(held.ends_at);
  }
  return wakes.length === 0 ? null : Math.min(...wakes);
};
