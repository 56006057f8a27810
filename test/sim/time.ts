/**
 * The time of a simulated history. It moves only by `pass`, in one leap: what fell due on the way runs at the end of it, as on a
 * host that was busy meanwhile. Timers belong to a process and die with it. The wall clock may jump; the steady one never does.
 */
import type { Clock } from '../../src/kernel/clock.ts';

export interface Time {
  /** The clock of one process; `stop` is its death. */
  clock(): Clock & { stop(): void };
  /** `settled` resolves when everything that can go on by itself has. */
  pass(ms: number, settled: () => Promise<void>): Promise<void>;
  /** The wall clock alone. */
  jump(ms: number): void;
  steady(): number;
  now(): number;
}

interface Timer {
  due: number;
  order: number;
  run(): void;
}

export const simTime = (): Time => {
  let wall = 1_760_000_000_000;
  let steady = 1_760_000_000_000;
  let order = 0;
  const timers = new Set<Timer>();
  return {
    now: () => wall,
    steady: () => steady,
    jump: (ms) => {
      wall += ms;
    },
    async pass(ms, settled) {
      wall += ms;
      steady += ms;
      const due = [...timers].filter((t) => t.due <= steady).sort((a, b) => a.due - b.due || a.order - b.order);
      for (const t of due) {
        if (!timers.delete(t)) continue;
        t.run();
        await settled();
      }
    },
    clock() {
      const mine = new Set<Timer>();
      let stopped = false;
      const after: Clock['after'] = (ms, run) => {
        if (stopped) return () => {};
        const timer = { due: steady + Math.max(0, ms), order: order++, run };
        timers.add(timer);
        mine.add(timer);
        return () => void timers.delete(timer);
      };
      return {
        now: () => wall,
        steady: () => steady,
        after,
        sleep: (ms, signal) =>
          new Promise((resolve, reject) => {
            const undo = after(ms, resolve);
            signal?.addEventListener('abort', () => {
              undo();
              reject(signal.reason);
            });
          }),
        stop() {
          stopped = true;
          for (const t of mine) timers.delete(t);
        },
      };
    },
  };
};
