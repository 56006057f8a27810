/**
 * From a claim to acknowledged facts: lists the attempt, runs it, puts its facts on disk before they are sent, and sends them
 * until the server has them. Facts go after the transcript, so that whoever sees the ending can read all of it.
 */
import { existsSync } from 'node:fs';
import { emptyStream, type Facts } from '../contract/facts.ts';
import type { ClaimedWork } from '../contract/runner-protocol.ts';
import { tidy } from './adapters/all.ts';
import { runAttempt } from './attempt.ts';
import { type Control, createControl } from './control.ts';
import { giveBackLogin } from './login.ts';
import type { RunnerParts } from './parts.ts';
import { redactor, secretsOf } from './redact.ts';
import { whileUnreachable } from './retry.ts';
import type { Roster } from './roster.ts';
import type { AttemptEnd } from './run.ts';
import { ServerRefused } from './server-client.ts';
import { freshState } from './spool.ts';

export interface Work {
  begin(claim: ClaimedWork): void;
  /** An attempt of an earlier runner: `run` goes on with it from where it stands. */
  goOn(claim: ClaimedWork, run: (control: Control) => Promise<AttemptEnd>): void;
  /** Resolves when nothing of it moves any more (after `leaving`). */
  idle(): Promise<void>;
}

/** Refusals of what was sent, not of who sent it. */
const ofTheBody: readonly number[] = [400, 413, 422];

/** How the process ended, without what it said: an ending that is told with less is better than a run that stays open. */
const withoutStream = (facts: Facts): Facts => ({
  ...facts,
  stream: { ...emptyStream(facts.stream.cli), bytes: facts.stream.bytes },
});

export const createWork = (parts: RunnerParts, roster: Roster, onSpawn: () => void): Work => {
  const { kernel, spool, server, leaving } = parts;
  const running = new Set<Promise<void>>();

  /** `less`: what is sent when the server has looked at the facts and will not take them; sending the same again changes nothing. */
  const deliver = async (claim: ClaimedWork, facts: Facts, less: Facts | null): Promise<string> => {
    try {
      const answer = await whileUnreachable(kernel, 'delivering facts', claim.attempt, leaving, () =>
        server.facts(claim.attempt, claim.token, facts, leaving),
      );
      return answer.result;
    } catch (error) {
      if (!(error instanceof ServerRefused)) throw error;
      // They stay in the spool.
      kernel.log.error('facts were refused', { attempt: claim.attempt, error });
      return less === null || !ofTheBody.includes(error.status)
        ? `refused: ${error.message}`
        : deliver(claim, less, null);
    }
  };

  const tidyUp = (claim: ClaimedWork) =>
    tidy(claim, parts.adapterHost).catch((error) =>
      kernel.log.warn('files of a run are left', { attempt: claim.attempt, error }),
    );

  const finish = async (claim: ClaimedWork, facts: Facts, transcript: () => Promise<void>): Promise<void> => {
    await spool.writeFacts(claim.attempt, facts).catch((error) => {
      kernel.log.error('facts are not on disk; they are only in memory until they are delivered', {
        attempt: claim.attempt,
        error,
      });
    });
    await transcript();
    await giveBackLogin(claim, parts);
    const answer = await deliver(claim, facts, withoutStream(facts));
    await spool.markDelivered(claim.attempt, answer).catch((error) => {
      kernel.log.warn('a delivery was not noted; the facts will be sent once more', { attempt: claim.attempt, error });
    });
    await tidyUp(claim);
    await parts.ballast.lay();
    await spool.sweep();
  };

  const logEnd = (claim: ClaimedWork, facts: Facts) =>
    kernel.log.info('an attempt has ended', {
      attempt: claim.attempt,
      execution: claim.execution_id,
      agent: claim.agent.name,
      exit_code: facts.exit_code,
      signal: facts.signal,
      stop: facts.stop?.reason ?? null,
      run_ms: facts.run_ms,
    });

  const follow = async (claim: ClaimedWork, run: (control: Control) => Promise<AttemptEnd>): Promise<void> => {
    const control = createControl(kernel.clock.now, onSpawn);
    const listed = roster.add(claim, control);
    try {
      const end = await run(control);
      switch (end.kind) {
        case 'ended':
          roster.ended(listed);
          logEnd(claim, end.facts);
          return await finish(claim, end.facts, end.transcript);
        case 'refused':
          kernel.log.info('an attempt was called back before it began', { attempt: claim.attempt, why: end.why });
          await tidyUp(claim);
          return await spool.remove(claim.attempt);
        case 'left':
          return;
        default:
          return end satisfies never;
      }
    } catch (error) {
      if (!leaving.aborted) kernel.log.error('an attempt was not finished', { attempt: claim.attempt, error });
    } finally {
      roster.remove(claim.attempt);
    }
  };
  const start = (claim: ClaimedWork, run: (control: Control) => Promise<AttemptEnd>) => {
    const done = follow(claim, run).finally(() => running.delete(done));
    running.add(done);
  };

  return {
    begin(claim) {
      // An answer that was delivered twice must not become two processes, nor the facts of one that failed to start.
      if (existsSync(spool.dirOf(claim.attempt))) return;
      start(claim, (control) =>
        runAttempt({ claim, state: { ...freshState }, control, parts, hide: redactor(secretsOf(claim)) }),
      );
    },
    goOn: start,
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
};
