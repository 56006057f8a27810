/**
 * While the process lives: the run clock and its deadline, silence, stops from whichever side, a login that is hopeless, a log
 * that is full, a CLI that hangs after its result. Whoever stops says why first; the launcher writes it down before the first
 * signal and keeps the first reason (memory is its own watch). Ends with the exit of the leader, never with its streams.
 */
import type { StopReason } from '../contract/stop-reasons.ts';
import { type Awaits, firstEvent, plainOutput } from '../evidence/awaits.ts';
import type { LineSeen } from '../evidence/reader.ts';
import { cliOf } from './adapters/all.ts';
import { watchAfterResult } from './background.ts';
import { bootMs, startTimeMs } from './host-clock.ts';
import type { ExitRecord, Held } from './launchers/launcher.ts';
import type { ReadingEvents } from './reading.ts';
import type { Run } from './run.ts';
import { startRunClock } from './run-clock.ts';
import { watchSilence } from './silence.ts';
import type { AttemptState } from './spool.ts';

interface Holding extends ReadingEvents {
  /** The exit, or null when this runner leaves before it. */
  exited(): Promise<ExitRecord | null>;
  /** Ends the watching; what was measured. */
  close(): { run_ms: number; waiting_ms: number };
}

export const holdProcess = ({ claim, state, control, parts }: Run, held: Held): Holding => {
  const { kernel, launcher, spool } = parts;
  const { clock } = kernel;
  const log = kernel.log.child({ attempt: claim.attempt, agent: claim.agent.name });

  const stop = (reason: StopReason, detail?: string) => {
    launcher.stop(held, reason, detail).catch((error) => log.error('a stop failed', { reason, error }));
  };

  const runClock = startRunClock(
    clock,
    claim.timeout_s * 1000,
    () => stop('deadline', `${claim.timeout_s} s`),
    passedBefore(state, held),
    parts.renewed,
  );
  const hung = `silent for ${parts.afterResultMs / 1000} s after its result`;
  const after = watchAfterResult(clock, () => stop('teardown', hung), parts.afterResultMs);
  const silence = watchSilence({
    clock,
    awaits: cliOf(claim.agent.adapter) === 'command' ? plainOutput : firstEvent,
    ownS: claim.agent.stall_s,
    waiting: state.waiting,
    onStall: (detail) => stop('stall', detail),
    ...(parts.stallMs === undefined ? {} : { instead: parts.stallMs }),
  });

  control.proof = held.proof;
  control.startedAt = held.started_at;
  control.held({
    stop: (asked) => stop(asked.reason, asked.detail ?? undefined),
    lost: () => {
      // Another may run it already: no ladder, the whole tree at once. The reason is on disk before.
      launcher
        .stop(held, 'shutdown', 'the lease was lost', true)
        .catch((error) => log.error('a lost attempt could not be ended', { error }));
    },
    setWaiting(waiting, calledMs) {
      const before = runClock.read();
      runClock.setWaiting(waiting, calledMs);
      silence.setWaiting(waiting);
      const after = runClock.read();
      // A second more or less is not worth a write: the next renewal says it again.
      if (before.waiting === waiting && Math.abs(after.waiting_ms - before.waiting_ms) < 1_000) return;
      state.waiting = waiting;
      state.waiting_ms = after.waiting_ms;
      state.marked_boot_ms = bootMs();
      spool.writeState(claim.attempt, state).catch((error) => log.warn('a state was not written', { error }));
    },
    usage: () => launcher.usage(held).catch(() => null),
  });

  return {
    onLine(seen: LineSeen, awaits: Awaits | null) {
      after.seen(seen);
      silence.seen(awaits, seen.heartbeat === true);
      if (seen.hopeless) stop('evidence_stop', seen.hopelessWhy ?? 'the model API keeps rejecting the login');
    },
    onFull: (bytes) => stop('log_limit', `${bytes} bytes`),
    exited: () => {
      if (parts.leaving.aborted) return Promise.resolve(null);
      return new Promise((resolve) => {
        const leave = () => resolve(null);
        parts.leaving.addEventListener('abort', leave, { once: true });
        void held.exited.then((exit) => {
          parts.leaving.removeEventListener('abort', leave);
          resolve(exit);
        });
      });
    },
    close() {
      after.stop();
      silence.stop();
      control.released();
      runClock.stop();
      const { run_ms, waiting_ms } = runClock.read();
      return { run_ms, waiting_ms };
    },
  };
};

/** Run time before this runner took over, from the kernel's own record of the start: a restart gives no one extra time. */
const passedBefore = (state: AttemptState, held: Held) => {
  const now = bootMs();
  const started = startTimeMs(held.proof.start_time);
  const waiting_ms = state.waiting_ms + (state.waiting ? now - (state.marked_boot_ms ?? now) : 0);
  return { run_ms: Math.max(0, now - started - waiting_ms), waiting_ms, waiting: state.waiting };
};
