/**
 * One stop per attempt: the reason on disk, then the ladder. A later stop meets the first one and changes nothing but the
 * pace (`atOnce`). A stop for which the process has already exited is none: it is taken back, null is the answer.
 */
import { limits } from '../../contract/limits.ts';
import type { Stop, StopReason } from '../../contract/stop-reasons.ts';
import { readExit, readHeld } from './attempt-files.ts';
import type { LaunchHost } from './launch-host.ts';
import type { Held } from './launcher.ts';
import { isAlive, signalByProof } from './proof.ts';
import { climbDown } from './stop-ladder.ts';
import { readStop, recordStop, takeBackStop } from './stop-record.ts';
import { killTree } from './tear-down.ts';

interface Stops {
  stop(held: Held, reason: StopReason, detail: string | null, atOnce: boolean): Promise<Stop | null>;
  /** The stop in effect, also one that could not be written. */
  of(dir: string): Stop | null;
  /** After a restart: a stop that was begun is carried on. */
  carryOn(held: Held): void;
  forget(dir: string): void;
}

export const createStops = (host: LaunchHost, stepMs: number = limits.stopStepMs): Stops => {
  const { clock, log } = host.kernel;
  const begun = new Map<string, Stop>();

  const send = async (held: Held, signal: 'SIGINT' | 'SIGTERM'): Promise<boolean> =>
    (await host.holder.signal(held.attempt, signal)) || signalByProof(held.proof, signal);
  const kill = async (held: Held): Promise<void> => {
    await host.holder.signal(held.attempt, 'SIGKILL');
    signalByProof(held.proof, 'SIGKILL');
    killTree(held.attempt, readHeld(held.dir), host.spare);
  };
  /** False: the leader had exited before the first signal. */
  const goDown = async (held: Held, atOnce: boolean): Promise<boolean> => {
    if (!isAlive(held.proof)) return false;
    if (atOnce) {
      await kill(held);
      return true;
    }
    if (!(await send(held, 'SIGINT'))) return false;
    const rungs = { send: () => send(held, 'SIGTERM'), kill: () => kill(held), exited: held.exited };
    climbDown(rungs, clock, stepMs).catch((error) =>
      log.error('a stop ladder broke', { attempt: held.attempt, error }),
    );
    return true;
  };

  return {
    stop: async (held, reason, detail, atOnce) => {
      const before = begun.get(held.dir);
      if (before) {
        if (atOnce && isAlive(held.proof)) await kill(held);
        return before;
      }
      if (readExit(held.dir)) return readStop(held.dir);
      let recorded = { stop: { reason, at: clock.now(), detail }, first: true };
      // In memory before anything is awaited: a second caller must meet it.
      begun.set(held.dir, recorded.stop);
      try {
        recorded = recordStop(held.dir, recorded.stop);
        begun.set(held.dir, recorded.stop);
      } catch (error) {
        // A full disk must not keep a run alive; the reason stays in memory.
        log.error('a stop reason is not on disk', { attempt: held.attempt, reason, error });
      }
      if (await goDown(held, atOnce)) return recorded.stop;
      if (!recorded.first) return recorded.stop;
      begun.delete(held.dir);
      takeBackStop(held.dir);
      return null;
    },
    of: (dir) => readStop(dir) ?? begun.get(dir) ?? null,
    carryOn: (held) => {
      const stop = readStop(held.dir);
      if (stop === null) return;
      begun.set(held.dir, stop);
      void goDown(held, false);
    },
    forget: (dir) => void begun.delete(dir),
  };
};
