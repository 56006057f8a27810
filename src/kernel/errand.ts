/**
 * Something that is done again and again beside everything else: one turn at a time, at once when woken, else after the time that
 * the last turn gave. A turn that fails is logged and comes again; nobody waits for it.
 */
import type { Kernel } from './kernel.ts';

interface Errand {
  wake(): void;
  /** Ends after the turn under way. */
  stop(): Promise<void>;
}

const afterFailureMs = 5_000;

/** `run` gives the ms until its next turn. Nothing happens before the first `wake`. */
export const createErrand = (
  { clock, log }: Pick<Kernel, 'clock' | 'log'>,
  name: string,
  run: () => Promise<number>,
): Errand => {
  let running: Promise<void> | null = null;
  let woken = false;
  let stopped = false;
  let cancel = () => {};

  const turn = async () => {
    let nextMs = 0;
    while (!stopped && (woken || nextMs === 0)) {
      woken = false;
      nextMs = await run().catch((error) => {
        log.error(`${name} failed; it comes again`, { error });
        return afterFailureMs;
      });
    }
    running = null;
    if (!stopped) cancel = clock.after(nextMs, wake);
  };
  const wake = () => {
    woken = true;
    if (running !== null || stopped) return;
    cancel();
    running = turn();
  };
  return {
    wake,
    async stop() {
      stopped = true;
      cancel();
      await running;
    },
  };
};
