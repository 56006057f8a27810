/**
 * The cgroups of the runs of one DROVER_HOME, as they stand in the system. A bench that kills a whole installation takes them
 * away itself: nobody is left who would, and thousands of empty ones make each look at the hierarchy slower.
 */
import { join } from 'node:path';
import { leavesOf, pidsIn, removeLeaf } from '../../src/runner/launchers/cgroup-leaf.ts';
import { type CgroupPlace, findCgroupPlace } from '../../src/runner/launchers/cgroup-place.ts';
import { readText } from '../../src/runner/launchers/proc.ts';
import { leafPrefix } from '../../src/runner/launchers/spawn-process.ts';

/** Below the holder's own cgroup, which is ours too unless systemd gave it a scope of its own; null: this machine has none. */
export const placeOf = (holderPid?: number): CgroupPlace | null =>
  findCgroupPlace(readText(`/proc/${holderPid ?? 'self'}/cgroup`) ?? readText('/proc/self/cgroup') ?? '');

/** Each with the processes that stand in it. */
export const leavesUnder = (place: CgroupPlace | null, home: string): string[] =>
  place === null
    ? []
    : leavesOf(place, leafPrefix(home)).map(
        ([attempt, leaf]) => `${join(place.base, leafPrefix(home) + attempt)} (${pidsIn(leaf).join(' ')})`,
      );

/** What could not be removed. The processes must have been killed: one that is dying still holds its cgroup. */
export const removeLeaves = async (place: CgroupPlace | null, home: string): Promise<string[]> => {
  for (let tries = 0; place !== null && tries < 400; tries++) {
    const left = leavesOf(place, leafPrefix(home)).filter(([, leaf]) => !removeLeaf(leaf));
    if (left.length === 0) return [];
    await new Promise((r) => setTimeout(r, 10));
  }
  return leavesUnder(place, home);
};
