/** Ms since boot of this host: the same for every process on it, so that a run clock survives a restart of the runner. */
import { readFileSync } from 'node:fs';
import { ticksPerSecond } from './launchers/proc.ts';

export const bootMs = (): number => {
  try {
    return Math.round(Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000);
  } catch {
    return Math.round(performance.timeOrigin + performance.now());
  }
};

/** Of a start time in /proc/PID/stat, which counts in ticks since boot. */
export const startTimeMs = (startTime: number): number => (startTime * 1000) / ticksPerSecond;
