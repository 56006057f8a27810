/** What the server can see of processes on its own host: for proofs of death, never to signal anything. */
import { readFileSync } from 'node:fs';
import type { ProofOfLife } from '../contract/runner-protocol.ts';

/** Changes with every boot of the kernel; '' where there is no /proc. */
export const bootId = (): string => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
};

/** True while this very process lives: a reused pid has another start time, another boot another id. */
export const aliveProcess = (proof: ProofOfLife): boolean => {
  if (proof.boot_id !== bootId()) return false;
  try {
    const stat = readFileSync(`/proc/${proof.pid}/stat`, 'utf8');
    // The command may hold spaces and brackets: fields count from the last ')'. Field 3 is the state, 22 the start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] !== 'Z' && Number(fields[19]) === proof.start_time;
  } catch {
    return false;
  }
};
