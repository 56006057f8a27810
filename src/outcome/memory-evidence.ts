/**
 * Was it memory? The kernel's counter of this run's cgroup and a leader that died by SIGKILL together prove it; a counter that
 * rose under a living leader is a tool's death (vm0#32963: 101 runs that went on); SIGKILL alone proves nothing.
 */
import type { Facts, MemoryFacts } from '../contract/facts.ts';
import type { Ending } from './ending.ts';
import type { Context, Finding } from './finding.ts';
import { kernelKill, leaderNames, memoryGuards } from './host-table.ts';
import { findingOf, lineFinding, sentenceIn, spokenLines } from './owned-lines.ts';

/** Kills in the run's own cgroup; null = could not be read. */
export const oomDelta = (memory: MemoryFacts | null): number | null =>
  memory === null || memory.oom_kills_before === null || memory.oom_kills_after === null
    ? null
    : Math.max(0, memory.oom_kills_after - memory.oom_kills_before);

export const memoryFinding = (facts: Facts, ending: Ending, context: Context): Finding | null => {
  if (ending.signal === null && !ending.killed) return null;
  const delta = oomDelta(facts.memory);
  const group = facts.memory?.oom_group_kills ?? 0;
  if (ending.killed && ((delta ?? 0) > 0 || group > 0))
    return {
      cause: 'oom_killed',
      why: `oom_kill ${facts.memory?.oom_kills_before ?? '?'} → ${facts.memory?.oom_kills_after ?? '?'} in the run's own cgroup, and its leader was killed`,
      tier: null,
      confidence: 'proven',
    };
  if (ending.killed && delta === null) {
    const log = spokenLines(facts.stream).find((l) => leaderNames.test(kernelKill.exec(l.text)?.[1] ?? ''));
    if (log)
      return { cause: 'oom_killed', why: `kernel log: "${log.text.slice(0, 200)}"`, tier: null, confidence: 'proven' };
  }
  return lineFinding(facts.stream, (line) => {
    const row = sentenceIn(memoryGuards, line);
    return row ? findingOf(row, line, context) : null;
  });
};

/** A tool of the run was killed for memory while its leader went on. */
export const toolWasKilled = (facts: Facts, oomIsTheCause: boolean): boolean =>
  !oomIsTheCause && (oomDelta(facts.memory) ?? 0) > 0;
