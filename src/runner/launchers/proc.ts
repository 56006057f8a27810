/**
 * What /proc says of processes: one place that parses it. Reads are synchronous on purpose: a pid found and a signal sent in
 * the same tick leave no time for the pid to be given to somebody else. Nothing here throws: a process may go at any moment.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** USER_HZ: 100 on every Linux that Node runs on. */
export const ticksPerSecond = 100;

export interface ProcStat {
  pid: number;
  /** One letter; `Z` and `X` have ended and only wait for their parent. */
  state: string;
  ppid: number;
  session: number;
  /** Own time and that of reaped children. */
  cpu_ms: number;
  start_time: number;
}

export const readText = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
};

/** Fields are counted after the last bracket: the program's name in field 2 may hold spaces and brackets itself. */
export const parseStat = (text: string): ProcStat | null => {
  const close = text.lastIndexOf(')');
  if (close < 0) return null;
  const rest = text.slice(close + 2).split(' ');
  const field = (number: number) => Number(rest[number - 3]);
  const stat = {
    pid: Number.parseInt(text, 10),
    state: rest[0] ?? '',
    ppid: field(4),
    session: field(6),
    cpu_ms: ((field(14) + field(15) + field(16) + field(17)) * 1000) / ticksPerSecond,
    start_time: field(22),
  };
  return Number.isFinite(stat.start_time) ? stat : null;
};

export const statOf = (pid: number): ProcStat | null => parseStat(readText(`/proc/${pid}/stat`) ?? '');

export const ended = (stat: ProcStat): boolean => stat.state === 'Z' || stat.state === 'X';

export const allPids = (): number[] => {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
};

/** Bytes of a line `Name:  123 kB`, as in /proc/meminfo and /proc/PID/status; 0 when it is not there. */
export const sizeIn = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024;

/** Memory that is the process's own: without the pages of files, which every process of one program shares. */
export const ownMemory = (pid: number): number => {
  const status = readText(`/proc/${pid}/status`) ?? '';
  return sizeIn(status, 'RssAnon') + sizeIn(status, 'RssShmem');
};

/** `name value` lines, as in memory.events, memory.stat, /proc/vmstat. Null when the line is not there. */
export const counter = (text: string | null, name: string): number | null => {
  const found = text === null ? null : new RegExp(`^${name} (\\d+)$`, 'm').exec(text);
  return found ? Number(found[1]) : null;
};

/** Kills of the kernel's OOM killer on this host since boot. */
export const hostOomKills = (): number | null => counter(readText('/proc/vmstat'), 'oom_kill');
