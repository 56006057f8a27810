/**
 * The second gate (R22): nothing is spawned, and no service asked, before the server has said go. It stands as near to the
 * spawn as can be, so that a cancel during the preparation costs nothing. A go that is older than the lease is asked for again:
 * a host that slept between question and answer must not start what was given up meanwhile.
 */
import { bootMs } from './host-clock.ts';
import { whileUnreachable } from './retry.ts';
import { type AttemptEnd, endedEarly, type Run } from './run.ts';
import { ServerRefused } from './server-client.ts';

/** Null = go. A stop that came while we prepared is an ending that never had a process. */
export const askToBegin = async (run: Run, now: () => number = bootMs): Promise<AttemptEnd | null> => {
  const { claim, state, control, parts } = run;
  // On disk before the question: a runner that finds `begun` knows that the server may have said go.
  state.phase = 'begun';
  await parts.spool.writeState(claim.attempt, state);
  const ask = async () => {
    // Of the boot clock: it goes on while the host is suspended.
    const asked = now();
    const answer = await parts.server.begin(claim.attempt, claim.token, parts.leaving);
    return { ...answer, stale: answer.go && now() - asked >= claim.lease_ms };
  };
  const askFresh = async () => {
    for (;;) {
      const answer = await ask();
      if (!answer.stale) return answer;
      parts.kernel.log.info('a go came late and is asked for again', { attempt: claim.attempt });
    }
  };
  const gate = await whileUnreachable(parts.kernel, 'asking to begin', claim.attempt, parts.leaving, askFresh).catch(
    (error) => {
      if (error instanceof ServerRefused) return { go: false, why: 'unknown' as const };
      throw error;
    },
  );
  if (!gate.go && gate.why === 'cancelled')
    return endedEarly(run, {
      stop: { reason: 'cancel', at: parts.kernel.clock.now(), detail: 'before the process was started' },
    });
  if (!gate.go || control.lost) return { kind: 'refused', why: gate.why ?? 'lost' };
  return control.stopAsked === null ? null : endedEarly(run, { stop: control.stopAsked });
};
