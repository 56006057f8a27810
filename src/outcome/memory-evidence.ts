/**
 * Was it memory? Four witnesses, the surest first: the host's logs that name this run's leader; the kernel's counter of this
 * run's cgroup together with a leader that died by SIGKILL; the counter of the whole host where there is no cgroup (likely,
 * since agents are the first to go); a whole line of a memory guard. A counter that rose under a living leader, or for a
 * process that the log or `memory.events.local` tells apart from it, is a tool's death (vm0#32963: 101 runs that went on).
 * SIGKILL alone proves nothing.
 */
import type { Facts, LoggedKill, MemoryFacts } from '../contract/facts.ts';
import type { Ending } from './ending.ts';
import type { Context, Finding } from './finding.ts';
import { kernelKill, leaderNames, memoryGuards } from './host-table.ts';
import { findingOf, lineFinding, sentenceIn, spokenLines } from './owned-lines.ts';

const rise = (before: number | null, after: number | null): number | null =>
  before === null || after === null ? null : Math.max(0, after - before);

/** Kills in the run's own cgroup; null = could not be read. */
export const oomDelta = (memory: MemoryFacts | null): number | null =>
  memory === null ? null : rise(memory.oom_kills_before, memory.oom_kills_after);

const hostDelta = (memory: MemoryFacts | null): number | null =>
  memory === null ? null : rise(memory.host_oom_kills_before, memory.host_oom_kills_after);

const proven = (cause: Finding['cause'], why: string): Finding => ({ cause, why, tier: null, confidence: 'proven' });

/**
 * The kernel's line names the CLI itself although it is not the leader: the npm package of Codex is a wrapper that starts the native
 * program and ends by the signal it saw (tried: oom_kill 0 → 1, wrapper SIGKILL), and a shim in front of a CLI does as much.
 */
const killsOfTheCli = (facts: Facts): LoggedKill[] =>
  (facts.memory?.logged_kills ?? []).filter(
    (k) => k.victim !== 'other' || kernelKill.exec(k.line)?.[1] === facts.stream.cli,
  );

const guards: readonly LoggedKill['by'][] = ['earlyoom', 'systemd_oomd'];

export const memoryFinding = (facts: Facts, ending: Ending, context: Context): Finding | null => {
  // Whoever held it was killed too: nobody saw a signal, and only a log can tell.
  const unseen = facts.exit_code === null && facts.signal === null && facts.spawned_at !== null;
  if (ending.signal === null && !ending.killed && !unseen) return null;
  const { memory } = facts;
  const ours = killsOfTheCli(facts);
  const byKernel = ours.find((k) => !guards.includes(k.by));
  if (byKernel && (ending.killed || unseen)) return proven('oom_killed', `kernel log: "${byKernel.line}"`);
  const byGuard = ours.find((k) => guards.includes(k.by));
  if (byGuard) return proven('memory_pressure_killed', `${byGuard.by.replace('_', '-')}: "${byGuard.line}"`);
  if (ending.killed && memory !== null) {
    const counted = byCounters(memory);
    if (counted !== null) return counted;
  }
  if (ending.killed && oomDelta(memory) === null) {
    const log = spokenLines(facts.stream).find((l) => leaderNames.test(kernelKill.exec(l.text)?.[1] ?? ''));
    if (log) return proven('oom_killed', `kernel log: "${log.text.slice(0, 200)}"`);
  }
  return lineFinding(facts.stream, (line) => {
    const row = sentenceIn(memoryGuards, line);
    return row ? findingOf(row, line, context) : null;
  });
};

/** The leader died by SIGKILL: was it among those the kernel counted? */
const byCounters = (memory: MemoryFacts): Finding | null => {
  const delta = oomDelta(memory);
  if (delta === null) {
    const host = hostDelta(memory) ?? 0;
    return host === 0
      ? null
      : {
          ...proven('oom_killed', `the kernel killed ${host} process(es) of this host for memory while it ran`),
          confidence: 'likely',
        };
  }
  if (delta === 0 && (memory.oom_group_kills ?? 0) === 0) return null;
  if ((memory.oom_group_kills ?? 0) === 0 && victimsWereOthers(memory, delta)) return null;
  return proven(
    'oom_killed',
    `oom_kill ${memory.oom_kills_before ?? '?'} → ${memory.oom_kills_after ?? '?'} in the run's own cgroup, and its leader was killed`,
  );
};

/** Every kill that was counted is told of somebody else, or happened below the directory in which the leader stands. */
const victimsWereOthers = (memory: MemoryFacts, delta: number): boolean => {
  const others = (memory.logged_kills ?? []).filter((k) => k.victim === 'other' && !guards.includes(k.by)).length;
  return others >= delta || memory.oom_kills_local === 0;
};

/** A tool of the run was killed for memory while its leader went on. */
export const toolWasKilled = (facts: Facts, oomIsTheCause: boolean): boolean =>
  !oomIsTheCause && (oomDelta(facts.memory) ?? 0) > 0;

/** The kernel killed because the host was short, not because of a limit of the agent: raising that would change nothing. */
export const hostWasShort = (facts: Facts): boolean => {
  const { memory } = facts;
  if (memory === null) return false;
  const [log] = killsOfTheCli(facts);
  if (log) return log.by === 'kernel_host';
  if (oomDelta(memory) === null) return (hostDelta(memory) ?? 0) > 0;
  const { limit_bytes: limit, peak_bytes: peak } = memory;
  return limit === null || (peak !== null && peak < 0.9 * limit);
};

/** A fifth of its time in which no process of it could go on: the rest of the time was little better. */
const stalledShare = 0.2;
/** A run that spun at its limit read 1 GB a second again, its whole limit 15 times a second; a busy build reads some of it twice. */
const refaultsOfLimit = 10;
const refaultedPerSecond = 8 * 1024 * 1024;

/** Short of memory for long, without a kill: what may lie behind a deadline or a silence. Null = no sign of it. */
export const memoryPressure = (facts: Facts): string | null => {
  const { memory } = facts;
  const ms =
    facts.run_ms ?? (facts.ended_at === null || facts.spawned_at === null ? 0 : facts.ended_at - facts.spawned_at);
  if (!memory?.pressure || ms <= 0) return null;
  const { stalled_ms: stalled, refaulted_bytes: refaulted } = memory.pressure;
  if (stalled !== null && stalled >= stalledShare * ms)
    return `memory pressure: nothing of it could go on for ${Math.round((100 * stalled) / ms)} % of its time`;
  const size = memory.limit_bytes ?? memory.peak_bytes;
  if (refaulted === null || size === null) return null;
  return refaulted >= refaultsOfLimit * size && refaulted >= (refaultedPerSecond * ms) / 1000
    ? `memory pressure: it read ${Math.round(refaulted / size)} times its memory again after giving it up`
    : null;
};
