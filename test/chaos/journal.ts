/** What the agents wrote down themselves: the truth that the rows are held against. */
import { existsSync, readFileSync } from 'node:fs';

export interface Ran {
  /** One pid for each time it was started. */
  pids: number[];
  /** The code with which it was about to exit; null = it did not come that far. */
  code: number | null;
}

export const readJournal = (path: string): Map<string, Ran> => {
  const all = new Map<string, Ran>();
  if (!existsSync(path)) return all;
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [what, id, n] = line.split(' ');
    if (id === undefined || n === undefined) continue;
    const ran = all.get(id) ?? { pids: [], code: null };
    if (what === 'start') ran.pids.push(Number(n));
    else ran.code = Number(n);
    all.set(id, ran);
  }
  return all;
};

/** Of a living process, not of one that has exited and is not yet waited for. */
export const lives = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z') && cmdline(pid).includes('chaos/agent.sh');
  } catch {
    return false;
  }
};
const cmdline = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
