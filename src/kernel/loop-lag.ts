/** How late the event loop is: p99 over the last one to two minutes, so that an old hiccup does not stay in the number. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from './clock.ts';

export interface LoopLag {
  p99Ms(): number;
  stop(): void;
}

/** The histogram samples every this many ms and counts its own period in: an idle loop shows 10, meaning 0. */
const resolutionMs = 10;
const windowMs = 60_000;

export const watchLoopLag = (clock: Pick<Clock, 'after'>): LoopLag => {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  let before = 0;
  const now = () => Math.max(0, histogram.percentile(99) / 1e6 - resolutionMs);
  let cancel = () => {};
  const turn = () => {
    before = histogram.count > 0 ? now() : 0;
    histogram.reset();
    cancel = clock.after(windowMs, turn);
  };
  cancel = clock.after(windowMs, turn);
  return {
    p99Ms: () => Math.round(Math.max(before, histogram.count > 0 ? now() : 0) * 100) / 100,
    stop() {
      cancel();
      histogram.disable();
    },
  };
};
