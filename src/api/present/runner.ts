/** Is a runner there? One answer for the page, the health of the fleet and the metrics. */
import type { RunnerRow } from '../../store/rows.ts';

/** A runner renews every 10 s and polls every 25 s: whoever was not heard of for a minute has missed several. */
const seenMs = 60_000;

export const isConnected = (runner: RunnerRow, now: number): boolean =>
  runner.last_seen !== null && now - runner.last_seen < seenMs;
