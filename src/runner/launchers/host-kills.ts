/**
 * After an ending that memory may explain: what the host's own logs tell of this run's processes. The counters of the cgroup
 * say that something in it was killed; only the kernel's log says which process, and only the journal of a memory guard says
 * that it was the guard. Looked at once, after the fact, and only where something speaks for it.
 */
import type { LoggedKill } from '../../contract/facts.ts';
import type { HeldRecord } from './attempt-files.ts';
import type { LeafCounters } from './cgroup-leaf.ts';
import { guardKillsIn, readGuardJournal } from './guard-journal.ts';
import { type KilledRun, kernelKills } from './kernel-log.ts';
import type { ExitRecord } from './launcher.ts';
import { readText, ticksPerSecond } from './proc.ts';

/** Where the logs come from: the host's own, or what a test recorded. */
export interface HostLogs {
  kernel(run: KilledRun, asleepMs: number): LoggedKill[] | null;
  guards(sinceMs: number): Promise<string | null>;
}
const hostLogs: HostLogs = { kernel: kernelKills, guards: (since) => readGuardJournal(since) };

export interface Looked {
  held: HeldRecord;
  /** Null: nobody saw how it ended. */
  exit: ExitRecord | null;
  counters: LeafCounters | null;
  hostOomKills: number | null;
  /** Drover stopped it: then nobody else's signal has to be explained. */
  stopped: boolean;
}

/** SIGKILL and SIGTERM, as the kernel tells them or as a shell does. */
const bySignal = (exit: ExitRecord | null, signal: 'SIGKILL' | 'SIGTERM', code: number): boolean =>
  exit === null || exit.signal === signal || exit.exit_code === code;

/** Its log counts without the time the host was asleep; a process's start time counts with it. */
const asleepMs = (): number => {
  const uptime = Number((readText('/proc/uptime') ?? '').split(' ')[0]) * 1000;
  const awake = Number(process.hrtime.bigint() / 1_000_000n);
  return Number.isFinite(uptime) ? Math.max(0, uptime - awake) : 0;
};

export const loggedKills = async (l: Looked, logs: HostLogs = hostLogs): Promise<LoggedKill[] | null> => {
  const { held, exit, counters } = l;
  if (held.proof === null) return null;
  const killed = bySignal(exit, 'SIGKILL', 137);
  const own = rise(held.oom_kills_before, counters?.oom_kills ?? null);
  const host = rise(held.host_oom_kills_before, l.hostOomKills);
  const speaks = own === null ? killed && host !== 0 : own > 0;
  const leafName = held.leaf === null ? null : (held.leaf.memory.split('/').at(-1) ?? null);
  const startedBootMs = (held.proof.start_time * 1000) / ticksPerSecond;
  const told = speaks ? logs.kernel({ pid: held.proof.pid, startedBootMs, leafName }, asleepMs()) : null;
  if (l.stopped || !(killed || bySignal(exit, 'SIGTERM', 143)) || told?.some((k) => k.victim === 'leader')) return told;
  const journal = await logs.guards(held.started_at ?? 0);
  if (journal === null) return told;
  return [...(told ?? []), ...guardKillsIn(journal, { pid: held.proof.pid, cgroup: held.leaf?.memory ?? null })];
};

/** Null = cannot be told. */
const rise = (before: number | null, after: number | null): number | null =>
  before === null || after === null ? null : after - before;
