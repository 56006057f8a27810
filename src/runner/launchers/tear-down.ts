/**
 * After every ending, success too, the whole tree is gone: SIGKILL in a loop until nobody is found, since a process may fork
 * while it is being killed (34 ms for 318 racing forkers). Then, and before the cgroup is removed, its counters are read.
 * The result is kept on disk: asked again after a restart, it says the same.
 */
import type { MemoryFacts } from '../../contract/facts.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { readRecord, writeRecord } from '../record-file.ts';
import { files, type HeldRecord, readExit, readHeld, TornRecord } from './attempt-files.ts';
import { killLeaf, type Leaf, pidsIn, readCounters, removeLeaf } from './cgroup-leaf.ts';
import { type HostLogs, loggedKills } from './host-kills.ts';
import { hostOomKills } from './proc.ts';
import { readStop } from './stop-record.ts';
import { treeOf } from './tree.ts';

/** A killed process goes in a few ms; one in uninterruptible sleep may never go, and nothing waits for it longer. */
const giveUpMs = 10_000;
const roundMs = 5;

/** Pids never to be killed: ours, and the holder's should it not have come back out of a cgroup. */
export type Spare = (pid: number) => boolean;

const livingPids = (attempt: string, held: HeldRecord | null): number[] =>
  held?.leaf ? pidsIn(held.leaf) : treeOf(attempt, held?.proof ?? null).map((s) => s.pid);

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended since.
  }
};

/** One round. */
export const killTree = (attempt: string, held: HeldRecord | null, spare: Spare): number[] => {
  const pids = livingPids(attempt, held).filter((pid) => !spare(pid));
  if (pids.length > 0 && held?.leaf) killLeaf(held.leaf);
  for (const pid of pids) kill(pid);
  return pids;
};

/** Everybody who was found, and whether nobody is left. */
const endTree = async (attempt: string, held: HeldRecord | null, spare: Spare, { clock, log }: Kernel) => {
  const seen = new Set<number>();
  const until = clock.steady() + giveUpMs;
  for (;;) {
    let pids = killTree(attempt, held, spare);
    // Who left the cgroup (as root an agent can) still has the marker.
    if (pids.length === 0 && held?.leaf) pids = killTree(attempt, { ...held, leaf: null }, spare);
    if (pids.length === 0) return seen;
    for (const pid of pids) seen.add(pid);
    if (clock.steady() > until) {
      log.error('processes of an attempt cannot be killed', { attempt, pids });
      return seen;
    }
    await clock.sleep(roundMs);
  }
};

const remove = async (leaf: Leaf, { clock, log }: Kernel): Promise<void> => {
  for (let left = giveUpMs; left > 0; left -= roundMs) {
    if (removeLeaf(leaf)) return;
    await clock.sleep(roundMs);
  }
  log.warn('a cgroup cannot be removed', { dir: leaf.memory });
};

const memoryFacts = async (
  dir: string,
  held: HeldRecord | null,
  watchedPeak: number | null,
  logs: HostLogs | undefined,
): Promise<MemoryFacts> => {
  const counters = held?.leaf ? readCounters(held.leaf) : null;
  const host = hostOomKills();
  const [exit, stopped] = [readExit(dir), readStop(dir) !== null];
  const looked = held && (await loggedKills({ held, exit, counters, hostOomKills: host, stopped }, logs));
  return {
    held_by: held?.held_by ?? 'none',
    limit_bytes: held?.memory_bytes == null ? null : (counters?.limit_bytes ?? held.memory_bytes),
    peak_bytes: counters ? counters.peak_bytes : watchedPeak,
    oom_kills_before: held?.oom_kills_before ?? null,
    oom_kills_after: counters?.oom_kills ?? null,
    oom_group_kills: counters?.oom_group_kills ?? null,
    oom_kills_local: counters?.oom_kills_local ?? null,
    host_oom_kills_before: held?.host_oom_kills_before ?? null,
    host_oom_kills_after: host,
    logged_kills: looked,
    pressure: counters?.pressure ?? null,
  };
};

export const tearDown = async (
  attempt: string,
  dir: string,
  watchedPeak: number | null,
  spare: Spare,
  kernel: Kernel,
  logs?: HostLogs,
): Promise<TornRecord> => {
  const held = readHeld(dir);
  const before = readRecord(files(dir).torn, TornRecord);
  if (before) {
    if (held?.leaf) await remove(held.leaf, kernel);
    return before;
  }
  const seen = await endTree(attempt, held, spare, kernel);
  if (held?.proof) seen.delete(held.proof.pid);
  const torn = { memory: await memoryFacts(dir, held, watchedPeak, logs), stragglers: seen.size };
  try {
    writeRecord(files(dir).torn, torn);
  } catch (error) {
    // A full disk: the answer is right all the same, only a restart would not know it.
    kernel.log.warn('cannot keep the result of a teardown', { attempt, error });
  }
  if (held?.leaf) await remove(held.leaf, kernel);
  return torn;
};
