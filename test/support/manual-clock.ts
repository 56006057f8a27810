/** A clock that tests own: time moves only by `advance`, and timers run in order of their due time. */
import type { Clock } from '../../src/kernel/clock.ts';

export interface ManualClock extends Clock {
  /** Moves both clocks and runs what falls due, letting promises settle in between. */
  advance(ms: number): Promise<void>;
  /** Moves the wall clock alone: a jump. */
  jump(ms: number): void;
}

export const manualClock = (start = 1_760_000_000_000): ManualClock => {
  let wall = start;
  let steady = start;
  let order = 0;
  const timers = new Set<{ due: number; order: number; run: () => void }>();
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const add = (ms: number, run: () => void) => {
    const timer = { due: steady + Math.max(0, ms), order: order++, run };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  return {
    now: () => wall,
    steady: () => steady,
    after: add,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const undo = add(ms, resolve);
        signal?.addEventListener('abort', () => {
          undo();
          reject(signal.reason);
        });
      }),
    jump: (ms) => {
      wall += ms;
    },
    advance: async (ms) => {
      const end = steady + ms;
      await settle();
      for (;;) {
        const next = [...timers].filter((t) => t.due <= end).sort((a, b) => a.due - b.due || a.order - b.order)[0];
        if (!next) break;
        timers.delete(next);
        wall += Math.max(0, next.due - steady);
        steady = Math.max(steady, next.due);
        next.run();
        await settle();
      }
      wall += end - steady;
      steady = end;
      await settle();
    },
  };
};
