/** How often something is let through in a minute, by key. In memory: after a restart everybody may try again. */
import type { Clock } from '../kernel/clock.ts';

interface PerMinute {
  /** Counts this one: 0 = let it through, else the ms until it may come again. */
  take(key: string, max: number): number;
}

const windowMs = 60_000;
/** Above it all is forgotten: a stream of made-up keys must not fill the memory. */
const keptMost = 10_000;

export const createPerMinute = (clock: Pick<Clock, 'steady'>): PerMinute => {
  const seen = new Map<string, { since: number; n: number }>();
  return {
    take(key, max) {
      const now = clock.steady();
      const window = seen.get(key);
      if (window === undefined || now - window.since >= windowMs) {
        if (seen.size >= keptMost) seen.clear();
        seen.set(key, { since: now, n: 1 });
        return 0;
      }
      if (window.n >= max) return window.since + windowMs - now;
      window.n++;
      return 0;
    },
  };
};
