/**
 * SIGINT, a step, SIGTERM, a step, SIGKILL to the whole tree. A step ends early when the leader has exited. The reason has
 * been written before this begins; who calls it has seen to that.
 */
import type { Clock } from '../../kernel/clock.ts';

interface Rungs {
  /** To the leader's group. False: the leader has exited, there is nothing to stop. */
  send(signal: 'SIGINT' | 'SIGTERM'): Promise<boolean>;
  /** SIGKILL to the group and to every process of the tree. */
  kill(): Promise<void>;
  exited: Promise<unknown>;
}

/** Resolves true when the leader exited within the step. */
const exitedWithin = (clock: Clock, ms: number, exited: Promise<unknown>): Promise<boolean> =>
  new Promise((resolve) => {
    const undo = clock.after(ms, () => resolve(false));
    void exited.then(() => {
      undo();
      resolve(true);
    });
  });

/** Goes down after SIGINT has been sent. */
export const climbDown = async (rungs: Rungs, clock: Clock, stepMs: number): Promise<void> => {
  if (await exitedWithin(clock, stepMs, rungs.exited)) return;
  if (await rungs.send('SIGTERM')) {
    if (await exitedWithin(clock, stepMs, rungs.exited)) return;
  }
  await rungs.kill();
};
