/** Ms since boot of this host: the same for every process on it, so that a run clock survives a restart of the runner. */
import { readFileSync } from 'node:fs';

export const bootMs = (): number => {
  try {
    return Math.round(Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000);
  } catch {
    return Math.round(performance.timeOrigin + performance.now());
  }
};

/** Start times in /proc/PID/stat count in 1/100 s on every Linux Node runs on. */
export const startTimeMs = (startTime: number): number => startTime * 10;
