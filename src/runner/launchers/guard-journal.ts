/**
 * Memory guards of the host kill before the kernel does, and only their own journal proves it: earlyoom names a process
 * (SIGTERM first), systemd-oomd a cgroup (SIGKILL to all in it). Asked for only when a leader died by such a signal and nobody
 * here sent it. No journal, no right to read it, or no answer within two seconds: null.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { LoggedKill } from '../../contract/facts.ts';

/** earlyoom 1.x: `sending SIGTERM to process 7326 uid 1000 "node": badness 924, VmRSS 1345 MiB`. */
const earlyoom = /^sending SIG(?:TERM|KILL) to process (\d+)\b/;
/** systemd 248 to 257: `Killed /user.slice/….scope due to memory pressure for /user.slice being 61.51% > 50.00% …`. */
const oomd = /^Killed (\/\S+) due to /;

/** `cgroup`: the run's own directory. A guard that kills one above it kills the run. */
export const guardKillsIn = (journal: string, run: { pid: number; cgroup: string | null }): LoggedKill[] => {
  const kills: LoggedKill[] = [];
  for (const entry of journal.split('\n')) {
    const line = messageOf(entry);
    if (line === null) continue;
    if (earlyoom.exec(line)?.[1] === String(run.pid)) kills.push({ by: 'earlyoom', victim: 'leader', line });
    const killed = oomd.exec(line)?.[1];
    if (killed !== undefined && mounts.some((m) => `${run.cgroup}/`.startsWith(`${m}${killed}/`)))
      kills.push({ by: 'systemd_oomd', victim: 'all', line });
  }
  return kills;
};

/** Where the one hierarchy of v2 is mounted: alone, or beside those of v1. */
const mounts = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'];

const messageOf = (entry: string): string | null => {
  try {
    const { MESSAGE } = JSON.parse(entry) as { MESSAGE?: unknown };
    return typeof MESSAGE === 'string' ? MESSAGE.slice(0, 300) : null;
  } catch {
    return null;
  }
};

const journals = ['/run/log/journal', '/var/log/journal'];

/** Lines of both guards since then (ms UTC), as `journalctl -o json` prints them. */
export const readGuardJournal = (
  sinceMs: number,
  program = 'journalctl',
  there = () => journals.some((d) => existsSync(d)),
): Promise<string | null> =>
  new Promise((resolve) => {
    if (!there()) return resolve(null);
    const since = `--since=@${Math.floor(sinceMs / 1000)}`;
    const asked = ['--no-pager', '--quiet', '-o', 'json', '-n', '200', since, '-t', 'earlyoom', '-t', 'systemd-oomd'];
    execFile(program, asked, { timeout: 2_000, maxBuffer: 1024 * 1024 }, (error, stdout) =>
      resolve(error ? null : stdout),
    );
  });
