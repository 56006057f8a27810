/**
 * The only timers of the client: the distance between two tries, and the watch over a line that stands still. Callers that
 * own a clock hand in a pause of their own; this one serves browsers and the CLI, which have no kernel. It keeps Node
 * alive, so that a CLI that waits does not exit.
 */
export type Pause = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Resolves after `ms`, or at once when the signal fires: the caller looks at its signal next anyway. */
export const pause: Pause = (ms, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });

/** Calls `expire` once when `touch` has not been called for `ms`. */
export const watchdog = (ms: number, expire: () => void): { touch: () => void; end: () => void } => {
  let timer = setTimeout(expire, ms);
  return {
    touch: () => {
      clearTimeout(timer);
      timer = setTimeout(expire, ms);
    },
    end: () => clearTimeout(timer),
  };
};
