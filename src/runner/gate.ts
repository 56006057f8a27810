/**
 * How an attempt can end for its runner, and the second gate (R22): nothing is spawned, and no service asked, before the
 * server has said go. It stands as near to the spawn as can be, so that a cancel during the preparation costs nothing.
 */
import type { Facts } from '../contract/facts.ts';
import type { ClaimedWork } from '../contract/runner-protocol.ts';
import { factsOf } from './conclude.ts';
import type { Control } from './control.ts';
import type { RunnerParts } from './parts.ts';
import { whileUnreachable } from './retry.ts';
import { ServerRefused } from './server-client.ts';
import type { AttemptState } from './spool.ts';

export type AttemptEnd =
  /** `transcript` resolves when the server has the whole of it; the facts go after it. */
  | { kind: 'ended'; facts: Facts; transcript: () => Promise<void> }
  /** The server said no at the gate and knows why: nothing was started, nothing is owed. */
  | { kind: 'refused'; why: string }
  /** This runner leaves; the process stays with the holder and the next runner goes on. */
  | { kind: 'left' };

export const ended = (facts: Facts, transcript = async () => {}): AttemptEnd => ({ kind: 'ended', facts, transcript });

/** Null = go. A stop that came while we prepared is an ending that never had a process. */
export const askToBegin = async (
  claim: ClaimedWork,
  state: AttemptState,
  control: Control,
  parts: RunnerParts,
): Promise<AttemptEnd | null> => {
  // On disk before the question: a runner that finds `begun` knows that the server may have said go.
  state.phase = 'begun';
  await parts.spool.writeState(claim.attempt, state);
  const gate = await whileUnreachable(parts.kernel, 'asking to begin', claim.attempt, parts.leaving, () =>
    parts.server.begin(claim.attempt, claim.token, parts.leaving),
  ).catch((error) => {
    if (error instanceof ServerRefused) return { go: false, why: 'unknown' as const };
    throw error;
  });
  const at = parts.kernel.clock.now();
  const cancelled = { reason: 'cancel' as const, at, detail: 'before the process was started' };
  if (!gate.go && gate.why === 'cancelled') return ended({ ...factsOf(claim, parts), stop: cancelled });
  if (!gate.go || control.lost) return { kind: 'refused', why: gate.why ?? 'lost' };
  if (control.stopAsked) return ended({ ...factsOf(claim, parts), stop: control.stopAsked });
  return null;
};
