/**
 * A runner starts: what the last one left is in the spool. Facts that were not acknowledged are sent; processes that live are
 * held again and their files read from the beginning; those that ended meanwhile are concluded from their exit record, or
 * without one when they are proven dead. Nothing is run: a claim that was never begun is the server's to give out again.
 */
import { join } from 'node:path';
import { cliOf } from './adapters/all.ts';
import { concludeEnded, followProcess } from './attempt.ts';
import { startDelivery } from './deliver.ts';
import { openJournal } from './journal.ts';
import type { RunnerParts } from './parts.ts';
import { redactor, secretsOf } from './redact.ts';
import { type AttemptEnd, ended, endedEarly, type Run } from './run.ts';
import { goOnWithService } from './service.ts';
import type { SpooledClaim } from './spool.ts';
import { openStreams } from './streams.ts';
import type { Work } from './work.ts';

interface Recovered {
  delivered: number;
  resumed: number;
  dropped: number;
}

export const recover = async (parts: RunnerParts, work: Work): Promise<Recovered> => {
  const { spool, kernel } = parts;
  const found: Recovered = { delivered: 0, resumed: 0, dropped: 0 };
  const takeUp = async (attempt: string): Promise<void> => {
    if (await spool.isDelivered(attempt)) return;
    const claim = await spool.readClaim(attempt);
    if (claim === null) {
      await endUnknown(attempt, parts);
      found.dropped++;
      return;
    }
    const facts = await spool.readFacts(attempt);
    const state = await spool.readState(attempt);
    if (facts !== null) {
      work.goOn(claim, async () => ended(facts, () => sendTranscript(claim, parts)));
      found.delivered++;
    } else if (state.phase === 'claimed') {
      kernel.log.info('a claim that was never begun is left to the server', { attempt });
      await spool.remove(attempt);
      found.dropped++;
    } else {
      state.restarts++;
      // A full disk must not leave a living process without anybody who follows it.
      await spool
        .writeState(attempt, state)
        .catch((error) => kernel.log.warn('a state was not written', { attempt, error }));
      work.goOn(claim, (control) => goOn({ claim, state, control, parts, hide: hideOf(claim) }));
      found.resumed++;
    }
  };
  // One that is odd keeps no other from its ending.
  for (const attempt of await spool.list())
    await takeUp(attempt).catch((error) => kernel.log.error('an attempt cannot be taken up', { attempt, error }));
  return found;
};

/** The values of what was lent went with the runner that had them. */
const hideOf = (claim: SpooledClaim) => redactor(secretsOf(claim), claim.lent_marks);

const goOn = async (run: Run): Promise<AttemptEnd> => {
  const { claim, state, parts } = run;
  if (claim.agent.adapter === 'http') return goOnWithService(run);
  const dir = parts.spool.dirOf(claim.attempt);
  const found = await parts.launcher.reattach(claim.attempt, dir);
  if ('proof' in found) return followProcess(run, found);
  if ('ended' in found) return concludeEnded(run, found.ended);
  if (state.phase === 'spawned' || !found.never_started) return concludeEnded(run, null);
  // Between the go and the spawn: proven never started. Its cgroup may have been made already.
  await parts.launcher.tearDown(claim.attempt, dir);
  return endedEarly(run, {
    runner_restarts: state.restarts,
    prepare_error: {
      code: 'runner_restarted',
      message: 'The runner was restarted before the process was started; nothing ran.',
    },
  });
};

/** From the first entry on: the server's answer says how far it had come, and the rest follows. */
const sendTranscript = async (claim: SpooledClaim, parts: RunnerParts): Promise<void> => {
  const dir = parts.spool.dirOf(claim.attempt);
  const streams = openStreams(dir);
  const journal = await openJournal(join(dir, 'journal'));
  const delivery = startDelivery({
    attempt: claim.attempt,
    token: claim.token,
    cli: cliOf(claim.agent.adapter),
    streams,
    server: parts.server,
    kernel: parts.kernel,
    clean: hideOf(claim),
    signal: parts.leaving,
  });
  for (const slice of journal.before) delivery.add(slice);
  await delivery.drained();
  await journal.close();
  await streams.close();
};

/** A claim that cannot be read (a crash of the host): nobody can be told of its ending, but nothing may run on unwatched. */
const endUnknown = async (attempt: string, parts: RunnerParts): Promise<void> => {
  const dir = parts.spool.dirOf(attempt);
  parts.kernel.log.error('a claim in the spool cannot be read; what runs of it is ended', { attempt });
  const found = await parts.launcher.reattach(attempt, dir);
  if ('proof' in found) {
    await parts.launcher.stop(found, 'shutdown', 'its claim cannot be read', true);
    await found.exited;
  }
  await parts.launcher.tearDown(attempt, dir);
  const aside = await parts.spool.setAside(attempt);
  parts.kernel.log.error('what cannot be read was set aside; the server ends its execution when the lease is over', {
    attempt,
    aside,
  });
};
