/**
 * Proof of life: pid, start time and boot id together name one process for ever. A pid alone does not: it is given out again,
 * and after a reboot the same pid with the same start time is not impossible.
 */
import type { ProofOfLife } from '../../contract/runner-protocol.ts';
import { ended, readText, statOf } from './proc.ts';

export const bootId = (): string => (readText('/proc/sys/kernel/random/boot_id') ?? '').trim();

/** A zombie is not alive: it has exited, only its parent has not looked yet. */
export const isAlive = (proof: ProofOfLife): boolean => {
  if (proof.boot_id !== bootId()) return false;
  const stat = statOf(proof.pid);
  return stat !== null && stat.start_time === proof.start_time && !ended(stat);
};

/** Sends to the leader's group (or to it alone when it has left the group's lead). False when that process has ended. */
export const signalByProof = (proof: ProofOfLife, signal: NodeJS.Signals): boolean => {
  if (!isAlive(proof)) return false;
  try {
    return process.kill(-proof.pid, signal);
  } catch {
    return false;
  }
};
