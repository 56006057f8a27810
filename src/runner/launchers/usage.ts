/** What the whole tree of an attempt uses now: for the renewals, the screen, and the watch that holds a limit without a cgroup. */
import type { HeldRecord } from './attempt-files.ts';
import { memoryInUse, pidsIn } from './cgroup-leaf.ts';
import type { Usage } from './launcher.ts';
import { ownMemory, type ProcStat, statOf } from './proc.ts';
import { treeOf } from './tree.ts';

/** Null when nothing of it lives any more. */
export const usageOf = (held: HeldRecord): Usage | null => {
  const tree = held.leaf
    ? pidsIn(held.leaf)
        .map(statOf)
        .filter((s): s is ProcStat => s !== null)
    : treeOf(held.attempt, held.proof);
  if (tree.length === 0) return null;
  const measured = held.leaf ? memoryInUse(held.leaf) : null;
  return {
    // Reaped children count with their parents; what was orphaned and reaped elsewhere is lost.
    cpu_ms: Math.round(tree.reduce((sum, s) => sum + s.cpu_ms, 0)),
    rss_bytes: measured ?? tree.reduce((sum, s) => sum + ownMemory(s.pid), 0),
  };
};
