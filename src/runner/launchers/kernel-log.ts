/**
 * The kernel's log after the fact: which process it killed for memory, and whether a cgroup's limit or the whole host was
 * short. Read only when something speaks for it, and only lines about this run are kept: its cgroup by name, or its leader by
 * pid, start time and pid namespace. Not readable (not root, a container): null, and the counters speak alone.
 */
import { closeSync, constants, openSync, readlinkSync, readSync } from 'node:fs';
import type { LoggedKill } from '../../contract/facts.ts';

export interface KilledRun {
  pid: number;
  /** Of the leader, in ms since boot, time asleep included. */
  startedBootMs: number;
  /** Name of the run's own cgroup; null when it has none. */
  leafName: string | null;
}

/**
 * `3,1052,3196463544,-;text`: facility and priority, number, µs since boot (time asleep not included), flags. Under 8 is the
 * kernel's own facility: it gives none of those to what a process writes into its log.
 */
const record = /^[0-7],\d+,(\d+),[^;]*;(.*)$/;
/** Printed before the kill, since kernel 5.0: who is short, and where the victim stood. */
const verdictLine = /^oom-kill:constraint=.*\btask_memcg=([^,]*),task=.*,pid=(\d+),uid=\d+$/;
const killLine = /^(Out of memory|Memory cgroup out of memory): Killed process (\d+) \(/;

/** The log's clock is not corrected as the other one is: it may be off by as much over a long time. */
const drift = 0.001;
const slackMs = 1_000;

/** The pids of the log are those of the first pid namespace; in another one they name somebody else. */
const firstPidNamespace = 'pid:[4026531836]';
const seesHostPids = (): boolean => {
  try {
    return readlinkSync('/proc/self/ns/pid') === firstPidNamespace;
  } catch {
    return false;
  }
};

export const killsIn = (log: string, run: KilledRun, asleepMs = 0, hostPids = true): LoggedKill[] => {
  // Only a kill after the start can be this run's: an older one of the same number was somebody else's.
  const from = run.startedBootMs - asleepMs - slackMs - run.startedBootMs * drift;
  const kills: LoggedKill[] = [];
  const standsIn = new Map<string, string>();
  for (const line of log.split('\n')) {
    const [, us, text = ''] = record.exec(line) ?? [];
    if (us === undefined) continue;
    const verdict = verdictLine.exec(text);
    if (verdict) standsIn.set(verdict[2]!, verdict[1]!);
    const kill = killLine.exec(text);
    if (!kill) continue;
    const pid = kill[2]!;
    const cgroup = standsIn.get(pid) ?? '';
    standsIn.delete(pid);
    const leader = hostPids && Number(us) / 1000 >= from && Number(pid) === run.pid;
    // Where pids say nothing, nobody knows whether the leader was it: the counters then decide.
    const ours = hostPids && run.leafName !== null && cgroup.split('/').includes(run.leafName);
    if (!leader && !ours) continue;
    kills.push({
      by: kill[1] === 'Out of memory' ? 'kernel_host' : 'kernel_cgroup',
      victim: leader ? 'leader' : 'other',
      line: text.slice(0, 300),
    });
  }
  return kills;
};

/** All of the ring (about 10,000 records, 15 ms): one read gives one record. */
export const readKernelLog = (path = '/dev/kmsg'): string | null => {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  const buffer = Buffer.alloc(16 * 1024);
  const lines: string[] = [];
  try {
    for (;;) {
      try {
        const n = readSync(fd, buffer);
        if (n === 0) break;
        lines.push(buffer.toString('utf8', 0, n));
      } catch (error) {
        // EPIPE: the record was overwritten while we read; the next read goes on behind it.
        if ((error as NodeJS.ErrnoException).code !== 'EPIPE') break;
      }
    }
  } finally {
    closeSync(fd);
  }
  return lines.join('');
};

export const kernelKills = (run: KilledRun, asleepMs: number): LoggedKill[] | null => {
  const log = readKernelLog();
  return log === null ? null : killsIn(log, run, asleepMs, seesHostPids());
};
