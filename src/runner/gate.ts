/**
 * The second gate (R22): nothing is spawned, and no service asked, before the server has said go. It stands as near to the
 * spawn as can be, so that a cancel during the preparation costs nothing.
 */
import { whileUnreachable } from './retry.ts';
import { type AttemptEnd, endedEarly, type Run } from './run.ts';
import { ServerRefused } from './server-client.ts';

/** Null = go. A stop that came while we prepared is an ending that never had a process. */
export const askToBegin = async (run: Run): Promise<AttemptEnd | null> => {
  const { claim, state, control, parts } = run;
  // On disk before the question: a runner that finds `begun` knows that the server may have said go.
  state.phase = 'begun';
  await parts.spool.writeState(claim.attempt, state);
  const gate = await whileUnreachable(parts.kernel, 'asking to begin', claim.attempt, parts.leaving, () =>
    parts.server.begin(claim.attempt, claim.token, parts.leaving),
  ).catch((error) => {
    if (error instanceof ServerRefused) return { go: false, why: 'unknown' as const };
    throw error;
  });
  if (!gate.go && gate.why === 'cancelled')
    return endedEarly(run, {
      stop: { reason: 'cancel', at: parts.kernel.clock.now(), detail: 'before the process was started' },
    });
  if (!gate.go || control.lost) return { kind: 'refused', why: gate.why ?? 'lost' };
  return control.stopAsked === null ? null : endedEarly(run, { stop: control.stopAsked });
};
