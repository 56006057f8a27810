/** Limits that only subagents met: they never explain the end of the run, but they must not be lost (CC#94530). */
import type { StreamFacts } from '../contract/facts.ts';

/** The workflow report of Claude Code closes with this when subagents failed on a window of the plan. */
const report = /\(\d+ subagents? failed: (session|5-hour|weekly|usage|Opus|Sonnet) limit\)$/;

export const hiddenLimit = (stream: StreamFacts): boolean =>
  stream.signals.some(
    (s) => s.kind === 'subagent_rate_limit_rejected' || (s.kind === 'subagent_error' && s.data.error === 'rate_limit'),
  ) || stream.lines.some((l) => l.stream === 'stdout' && report.test(l.text));
