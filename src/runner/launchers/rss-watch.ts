/**
 * Holds a memory limit where no cgroup can: looks at the tree's own memory (without file pages, which would be counted once
 * per process) and stops a run that passes the limit, with the figures as the reason. A bomb can be faster than a look; what
 * the kernel does then is seen in the host's counter.
 */
import type { Clock } from '../../kernel/clock.ts';
import type { Usage } from './launcher.ts';

/** A look reads /proc once (about 5 ms for 300 processes); a build that grows 500 MB/s passes a limit by as much. */
const lookMs = 1_000;

export interface RssWatch {
  readonly peak: number | null;
  stop(): void;
}

export const watchRss = (
  clock: Clock,
  limitBytes: number,
  look: () => Usage | null,
  over: (detail: string) => void,
  everyMs = lookMs,
): RssWatch => {
  let peak: number | null = null;
  let undo = () => {};
  const next = () => {
    undo = clock.after(everyMs, () => {
      const seen = look();
      if (seen === null) return next();
      peak = Math.max(peak ?? 0, seen.rss_bytes);
      const mib = (bytes: number) => `${Math.round(bytes / 1024 ** 2)} MiB`;
      if (seen.rss_bytes > limitBytes) over(`${mib(seen.rss_bytes)} in use, limit ${mib(limitBytes)}`);
      // On, also then: a stop that failed is asked for again, and to one that is under way this adds nothing.
      next();
    });
  };
  next();
  return {
    get peak() {
      return peak;
    },
    stop: () => undo(),
  };
};
