/** Whether a row says what really happened, by the agent's own journal and by what was killed. */
import type { Ran } from './journal.ts';
import type { Part } from './rounds.ts';

export interface Ended {
  key: string;
  id: string;
  status: string;
  cause: string;
  verdict: unknown;
  attempts: { number: number; exit_code: number | null; signal: string | null }[];
}

const lost = ['unknown', 'runner_lost'];

/** Null = it is true; else what is wrong with it. */
export const untrue = (e: Ended, ran: Ran | null, round: { shot: Set<number>; targets: Part[] }): string | null => {
  const starts = ran?.pids.length ?? 0;
  const last = e.attempts.at(-1);
  const killed = ran?.pids.some((p) => round.shot.has(p)) === true;
  // A holder that dies takes the codes of what it held with it, and nothing else does.
  const unseen = round.targets.includes('holder');
  if (starts > 1) return `it was started ${starts} times`;
  if (starts === 0) {
    // Begun but never seen to run: nobody may call it anything but lost.
    return e.status === 'failed' && round.targets.length > 0 && lost.includes(e.cause)
      ? null
      : `it never ran and is ${e.status} ${e.cause}: ${JSON.stringify(e.verdict)}`;
  }
  if (e.status === 'success')
    return ran!.code === 0 && last?.exit_code === 0 ? null : `success, but it was about to exit with ${ran!.code}`;
  if (e.status !== 'failed') return `it is ${e.status}, and nobody asked for that`;
  if (last?.exit_code != null)
    return last.exit_code === ran!.code && ran!.code !== 0
      ? null
      : `exit code ${last.exit_code}, it was ${ran!.code} (${e.cause})`;
  if (last?.signal === 'SIGKILL')
    return killed && e.cause === 'killed_unknown' ? null : `killed by nobody (${e.cause})`;
  if (!unseen) return `its ending was lost, and the holder lived (${e.cause})`;
  return lost.includes(e.cause) ? null : `nobody saw it end, and it is called ${e.cause}`;
};
