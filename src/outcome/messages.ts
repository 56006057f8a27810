/**
 * Verdict → one sentence or three for people. Rendered last, in this one place; nothing ever parses it (R37).
 *
 * Quotes nothing that an agent, a tool or an API said: older systems search such texts for words, and one matched its own
 * diagnostic (trinity#361). For the same reason sizes appear only behind "Killed by" or "terminated by", and durations never
 * have three digits: "401 s" would read as a status. `evidence[]` has the quotes.
 */
import { type Cause, causes } from '../contract/causes.ts';
import type { Facts } from '../contract/facts.ts';
import type { Verdict } from '../contract/verdict.ts';
import { toolKind } from '../evidence/awaits.ts';
import { slowedByMemory } from './attention.ts';
import { type Ending, signalNumber } from './ending.ts';
import { hostWasShort, oomDelta } from './memory-evidence.ts';

const mib = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`;

/** `1 h 5 min`, `6 min 41 s`: every part is under 100. */
export const durationText = (seconds: number): string => {
  const s = Math.max(0, Math.round(seconds));
  const parts = [
    [Math.floor(s / 86_400), 'd'],
    [Math.floor(s / 3600) % 24, 'h'],
    [Math.floor(s / 60) % 60, 'min'],
    [s % 60, 's'],
  ] as const;
  const shown = parts.filter(([n]) => n > 0).map(([n, unit]) => `${n} ${unit}`);
  return shown.length === 0 ? '0 s' : shown.join(' ');
};

/** The kept wording. `{rc}` is −signo for a signal, else the code. */
const terminated = (by: string, facts: Facts): string => {
  const { tool_calls: tools, turns } = facts.stream;
  const rc = facts.signal === null ? facts.exit_code : -(signalNumber(facts.signal) ?? 0);
  return `Execution terminated by ${by} after ${tools} tool calls / ${turns} turns (exit code ${rc ?? 'not known'}).`;
};

const sentences: Partial<Record<Cause, (facts: Facts) => string>> = {
  oom_killed: (facts) => {
    const { limit_bytes: limit = null, peak_bytes: peak = null } = facts.memory ?? {};
    const host = hostWasShort(facts);
    const figures = [limit === null ? '' : `, limit ${mib(limit)}`, peak === null ? '' : `, peak ${mib(peak)}`];
    return `Killed by the kernel: ${host ? 'the host was ' : ''}out of memory${figures.join('')}.`;
  },
  memory_limit: (facts) => {
    const { limit_bytes: limit = null, peak_bytes: peak = null } = facts.memory ?? {};
    const figures = [limit === null ? '' : ` of ${mib(limit)}`, peak === null ? '' : `, peak ${mib(peak)}`];
    return `Killed by Drover at its memory limit${figures.join('')}.`;
  },
  timed_out: (facts) =>
    facts.timeout_s === null ? 'Out of time.' : `Out of time: its limit is ${durationText(facts.timeout_s)}.`,
  stalled: ({ stream }) =>
    stream.open_tool === null
      ? `Silent for too long${stream.bytes === 0 ? ', without a single word' : ''}.`
      : `Silent for too long in ${toolText(stream.open_tool.name)}.`,
  killed_unknown: (facts) => {
    const delta = oomDelta(facts.memory);
    const memory = delta === 0 ? 'memory was not the reason' : 'this host could not tell whether memory was the reason';
    return `Likely cause: something outside Drover ended it; ${memory}. The log of the host may say more.`;
  },
};

/** The limit of the agent was not what bound it. */
const hostKill = (cause: Cause, facts: Facts): boolean => cause === 'oom_killed' && hostWasShort(facts);

const pressed = (cause: Cause, facts: Facts): string | null =>
  slowedByMemory(cause, facts) ? 'It was short of memory all the time: raise resources.memory of the agent.' : null;

/** Names of servers' tools come from outside and may be any word: the CLIs' own are repeated, the evidence names the others. */
const toolText = (name: string): string =>
  toolKind(name) === 'mcp' ? 'a tool of an MCP server (the evidence names it)' : `the tool ${name}`;

export const renderMessage = (verdict: Omit<Verdict, 'message'>, facts: Facts, ending: Ending): string => {
  const { cause } = verdict;
  if (cause === 'success') return '';
  // No CLI ran that could have refused anything, and no log was written.
  if (facts.prepare_error !== null && (cause === 'bad_config' || cause === 'unknown'))
    return 'Not started: its workspace or its settings could not be used. The evidence says why.';
  const { title, advice } = causes[cause];
  const sentence = sentences[cause]?.(facts) ?? `${title}.`;
  const reset = verdict.reset_at === null ? '' : ` Reset: ${new Date(verdict.reset_at).toISOString()}.`;
  const tail =
    ` ${pressed(cause, facts) ?? (hostKill(cause, facts) ? causes.memory_pressure_killed.advice : advice)}`.trimEnd();
  const by = terminator(verdict, facts, ending);
  if (by !== null) return `${terminated(by, facts)} ${sentence}${reset}${tail}`;
  if (cause === 'unknown' && facts.exit_code !== null && facts.exit_code >= 0 && facts.exit_code < 256)
    return `Ended with exit code ${facts.exit_code}, and nothing proves why. See the last lines of its log.`;
  if (cause === 'unknown') return 'Ended, and nothing proves why. See the last lines of its log.';
  return `${sentence}${reset}${tail}`;
};

/**
 * The signal, or Drover where the process answered a stop with an exit code (Claude Code exits 0 on SIGINT). Null when not
 * the ending but what the CLI said decided: a rejected login that was also killed is a rejected login.
 */
const terminator = (verdict: Omit<Verdict, 'message'>, facts: Facts, ending: Ending): string | null => {
  if (facts.spawn_error !== null || facts.prepare_error !== null || facts.http !== null) return null;
  if (verdict.tier === 'structured') return null;
  if (ending.signal !== null) return ending.signal;
  if (verdict.cause === 'oom_killed') return 'SIGKILL';
  return facts.stop === null || facts.stop.reason === 'evidence_stop' ? null : 'Drover';
};
