/**
 * The processes of an attempt where no cgroup names them: everything in the leader's session, everything that carries the
 * attempt's marker in its environment (a tool in a session of its own), and what descends from those. Killing the group
 * alone left 4 of 6 processes (measured: each tool gets a session of its own).
 * What clears its environment, leaves the session and outlives its parent is not found: only a cgroup holds that.
 */
import type { ProofOfLife } from '../../contract/runner-protocol.ts';
import { allPids, ended, type ProcStat, readText, statOf } from './proc.ts';
import { bootId } from './proof.ts';

export const marker = 'DROVER_ATTEMPT';

const marked = (pid: number, attempt: string): boolean =>
  (readText(`/proc/${pid}/environ`) ?? '').split('\0').includes(`${marker}=${attempt}`);

/** Living processes of the attempt, the leader among them. */
export const treeOf = (attempt: string, proof: ProofOfLife | null): ProcStat[] => {
  const living = allPids()
    .map(statOf)
    .filter((s): s is ProcStat => s !== null && !ended(s));
  // A session keeps its leader's pid from being given out again, so its id can be believed within one boot. The start time
  // of a session is not before the leader's: older processes with that number belong to an earlier one.
  const session = proof !== null && proof.boot_id === bootId() ? proof : null;
  const found = new Map<number, ProcStat>();
  for (const s of living)
    if ((session && s.session === session.pid && s.start_time >= session.start_time) || marked(s.pid, attempt))
      found.set(s.pid, s);
  for (let grew = true; grew; ) {
    grew = false;
    for (const s of living)
      if (!found.has(s.pid) && found.has(s.ppid)) {
        found.set(s.pid, s);
        grew = true;
      }
  }
  return [...found.values()];
};
