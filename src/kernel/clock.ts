/**
 * The only place that reads a clock. `now` is the wall clock for what people read. `steady` starts near the wall clock
 * and then never jumps: leases and budgets count by it (R8).
 */
export interface Clock {
  /** Wall clock, integer ms UTC. */
  now(): number;
  /** Integer ms that only move forward, at the pace of the monotonic clock. */
  steady(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` after `ms`; the returned function takes it back. Never keeps the process alive. */
  after(ms: number, run: () => void): () => void;
}

/** `atLeast`: the highest steady time an earlier process of this installation has stored. */
export const systemClock = (atLeast = 0): Clock => {
  const base = Math.max(Date.now(), atLeast);
  const mono = performance.now();
  // setTimeout takes at most 2^31 − 1 ms (24.8 days) and fires at once above it.
  const cap = (ms: number) => Math.min(Math.max(0, ms), 2 ** 31 - 1);
  return {
    now: () => Date.now(),
    steady: () => Math.floor(base + performance.now() - mono),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const timer = setTimeout(() => {
          signal?.removeEventListener('abort', stop);
          resolve();
        }, cap(ms));
        const stop = () => {
          clearTimeout(timer);
          reject(signal!.reason);
        };
        signal?.addEventListener('abort', stop, { once: true });
      }),
    after: (ms, run) => {
      const timer = setTimeout(run, cap(ms));
      timer.unref();
      return () => clearTimeout(timer);
    },
  };
};
