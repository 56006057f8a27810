/**
 * The launcher `process`: an order becomes a process under the holder, in a cgroup of its own where one can be had, with its
 * streams in files. What it must know after a restart is in the attempt's directory before it is needed. The agent's sins
 * are values here; only a broken host throws. Containers are not built: `isolation` is `none`, or `user` with
 * DROVER_AGENT_USER.
 */
import { existsSync } from 'node:fs';
import { writeRecord } from '../record-file.ts';
import { files, type HeldRecord, readExit, readHeld } from './attempt-files.ts';
import { leavesOf, removeLeaf } from './cgroup-leaf.ts';
import { type LaunchHost, openLaunchHost, type ProcessLauncherOptions } from './launch-host.ts';
import type { Held, Launcher } from './launcher.ts';
import { isAlive } from './proof.ts';
import { type RssWatch, watchRss } from './rss-watch.ts';
import { leafPrefix, spawnProcess } from './spawn-process.ts';
import { createStops } from './stop-process.ts';
import { tearDown } from './tear-down.ts';
import { usageOf } from './usage.ts';

export interface ProcessLauncher extends Launcher {
  /** Asks the holder to leave: true when it had no children. One that a unit of systemd keeps is not asked. */
  retireHolder(): Promise<boolean>;
  /** Lets go of the holder; the processes stay with it. */
  close(): void;
}

/** Found again by the holder's word, else by what is on disk: with a living process, or null. */
const findHeld = async (
  host: LaunchHost,
  attempt: string,
  dir: string,
): Promise<{ held: Held; record: HeldRecord } | null> => {
  const list = await host.holder.list();
  const child = list?.children.find((c) => c.id === attempt);
  const record = readHeld(dir);
  if (child && record) {
    const proof = { pid: child.pid, start_time: child.start_time, boot_id: host.hello.boot };
    const known = { ...record, proof, started_at: child.started_at };
    // Killed between the spawn and this record, the last runner left it without its proof.
    if (record.proof === null) writeRecord(files(dir).held, known);
    const held = host.watched.add(attempt, dir, proof, child.started_at);
    // Its exit may have come beside the answer, when nobody was named to be told of it (once in 5,600 chaos executions).
    void host.watched.follow(attempt);
    return { held, record: known };
  }
  if (!record?.proof || record.started_at === null) return null;
  if (!isAlive(record.proof) && !list?.unwritten.includes(attempt)) return null;
  const held = host.watched.add(attempt, dir, record.proof, record.started_at);
  void host.watched.follow(attempt);
  return { held, record };
};

/** The holder that had the order is asked last: whatever it was told before, it has done by then. */
const neverStarted = async (host: LaunchHost, attempt: string, dir: string): Promise<boolean> => {
  const record = readHeld(dir);
  if (record === null) return !existsSync(files(dir).held);
  const list = await host.holder.list();
  const same = record.holder != null && record.holder.pid === host.hello.pid && isAlive(record.holder);
  return record.proof === null && same && list !== null && !list.unwritten.includes(attempt);
};

export const createProcessLauncher = async (o: ProcessLauncherOptions): Promise<ProcessLauncher> => {
  const host = await openLaunchHost(o);
  const stops = createStops(host, o.stopStepMs);
  const watches = new Map<string, RssWatch>();

  const guard = ({ held, record }: { held: Held; record: HeldRecord }): Held => {
    if (record.held_by !== 'rss_watch' || record.memory_bytes === null || watches.has(held.dir)) return held;
    const over = (detail: string) =>
      void stops
        .stop(held, 'memory_limit', detail, false)
        .catch((error) => host.kernel.log.error('a run over its memory limit is not stopped', { held, error }));
    const watch = watchRss(host.kernel.clock, record.memory_bytes, () => usageOf(record), over);
    watches.set(held.dir, watch);
    void held.exited.then(watch.stop);
    return held;
  };

  return {
    get isolation() {
      return host.user ? ('user' as const) : ('none' as const);
    },
    get cgroup() {
      return host.place?.kind ?? ('none' as const);
    },
    spawn: async (order) => {
      const spawned = await spawnProcess(host, order);
      return 'spawn_error' in spawned ? spawned : guard(spawned);
    },
    reattach: async (attempt, dir) => {
      const ended = readExit(dir);
      if (ended) return { ended };
      const found = await findHeld(host, attempt, dir);
      if (found === null) {
        // It may have ended between the two looks.
        const late = readExit(dir);
        return late ? { ended: late } : { gone: true, never_started: await neverStarted(host, attempt, dir) };
      }
      stops.carryOn(found.held);
      return guard(found);
    },
    stop: (held, reason, detail, atOnce) => stops.stop(held, reason, detail ?? null, atOnce ?? false),
    stopped: async (dir) => stops.of(dir),
    tearDown: async (attempt, dir) => {
      const torn = await tearDown(attempt, dir, watches.get(dir)?.peak ?? null, host.spare, host.kernel, o.logs);
      watches.get(dir)?.stop();
      watches.delete(dir);
      stops.forget(dir);
      return torn;
    },
    sweep: (followed) => {
      if (host.place === null) return;
      for (const [attempt, leaf] of leavesOf(host.place, leafPrefix(host.home)))
        if (!followed(attempt)) removeLeaf(leaf);
    },
    usage: async (held) => {
      const record = readHeld(held.dir);
      return record === null ? null : usageOf(record);
    },
    retireHolder: () => host.holder.retire(),
    close: () => host.holder.close(),
  };
};
