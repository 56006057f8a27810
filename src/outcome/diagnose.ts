/**
 * facts → verdict. Pure: the same facts give the same verdict at any time. The first decisive rule wins, in the order of
 * cases/README.md 3; what the others found is kept as `secondary`.
 *
 *   not started → success event → recorded intent → memory → terminal error event → other structured evidence
 *   → signal → the CLI's exit codes → whole lines it owns → nothing known
 *
 * The model's words, tool input and output, hook output and our own sentences are never evidence.
 */
import { type Cause, causes } from '../contract/causes.ts';
import type { CredentialKind } from '../contract/credential.ts';
import type { Facts } from '../contract/facts.ts';
import type { StopReason } from '../contract/stop-reasons.ts';
import type { Verdict } from '../contract/verdict.ts';
import { attentionOf, slowedByMemory } from './attention.ts';
import { type CliTable, tableFor } from './by-cli.ts';
import { type Ending, endingOf, mechanismOf } from './ending.ts';
import type { Context, Finding } from './finding.ts';
import { crashSentence, hostSentence, spawnSentences } from './host-table.ts';
import { httpFinding } from './http-agent.ts';
import { signalFinding } from './kill-evidence.ts';
import { memoryFinding, memoryPressure } from './memory-evidence.ts';
import { renderMessage } from './messages.ts';
import { notStarted } from './not-started.ts';
import { findingOf, lineFinding, sentenceIn, spokenLines } from './owned-lines.ts';
import { zoneOfTz } from './printed-zones.ts';
import { plausibleReset } from './reset-times.ts';
import { hiddenLimit } from './subagents.ts';

export interface DiagnoseOptions {
  /** Wall clock for reset times without a date, where the facts don't tell when the run ended. */
  now?: number | null;
  /** What the run was started with (R30). */
  permissionMode?: string | null;
  /** What it was lent to log in with. */
  lent?: CredentialKind | null;
}

export const diagnose = (facts: Facts, options: DiagnoseOptions = {}): Verdict => {
  const context: Context = { now: facts.ended_at ?? options.now ?? null, zone: zoneOfTz(facts.tz ?? 'UTC') };
  const ending = endingOf(facts);
  const found = findings(facts, ending, tableFor(facts.stream), context).filter((f): f is Finding => f !== null);
  const decisive = found[0] ?? nothingKnown(facts, ending);
  const row = causes[decisive.cause];
  const verdict: Omit<Verdict, 'message'> = {
    cause: decisive.cause,
    secondary: secondaryOf(decisive.cause, found),
    mechanism: mechanismOf(ending, decisive.cause === 'success'),
    confidence: decisive.confidence,
    tier: decisive.tier,
    // "Nobody knows who killed it" is no evidence beside something that knows.
    evidence: evidenceOf(decisive, found, facts),
    retryable:
      decisive.renews === true || (row.retryable && decisive.retryable !== false && !plainWords(facts, decisive)),
    switch_credential: switchOf(decisive),
    reset_at: plausibleReset(decisive.reset_at, context.now),
    attention: attentionOf(facts, decisive.cause, {
      permissionMode: options.permissionMode ?? null,
      lent: options.lent ?? null,
    }),
  };
  return { ...verdict, message: renderMessage(verdict, facts, ending) };
};

const evidenceOf = (decisive: Finding, found: readonly Finding[], facts: Facts): string[] => {
  const whys = [decisive, ...found.filter((f) => f.cause !== 'killed_unknown')].map((f) => f.why);
  const pressure = slowedByMemory(decisive.cause, facts) ? memoryPressure(facts) : null;
  return [...new Set([...whys.slice(0, 9), ...(pressure === null ? [] : [pressure])])];
};

/** What a program of the `command` adapter prints may name a cause; it never makes Drover run the program again. */
const plainWords = (facts: Facts, finding: Finding): boolean =>
  facts.stream.cli === 'command' && finding.tier === 'line';

/** In order of precedence; the first that is not null decides. */
const findings = (facts: Facts, ending: Ending, table: CliTable, context: Context): (Finding | null)[] => {
  const { stream } = facts;
  if (facts.http !== null) {
    const answered = httpFinding(facts.http, stream, context);
    return answered.cause === 'success' ? [answered] : [notStarted(facts), intent(facts), answered];
  }
  const ended = stream.result !== null && (table.succeeded(stream) || table.terminal(stream, context) !== null);
  const ourStop = facts.stop !== null;
  // After a kill from outside, a retry that was under way explains nothing; after our own stop, or an exit, it does.
  const retrying = ended ? null : table.retrying(stream, context);
  const died = ending.signal !== null && !ourStop;
  const exitMatters = ending.exitCode !== null && ending.exitCode !== 0 && !ended;
  const textMatters = !ended && ending.exitCode !== 0;
  return [
    notStarted(facts),
    table.succeeded(stream) ? success(facts, 'the CLI said success for the prompt') : null,
    intent(facts),
    memoryFinding(facts, ending, context),
    table.terminal(stream, context),
    ended ? null : table.pending(stream, context),
    ourStop ? retrying : null,
    ending.exitCode === 124 ? simple('timed_out', 'exit 124: timeout(1) ended it') : null,
    table.plain && facts.stop === null && ending.exitCode === 0 ? success(facts, 'exit 0') : null,
    facts.stop === null || facts.stop.reason === 'evidence_stop' ? signalFinding(facts, ending, context) : null,
    died ? null : retrying,
    exitMatters ? specific(table, facts, context) : null,
    exitMatters ? exitFinding(table, ending.exitCode!, facts, context) : null,
    textMatters ? lineOf(table, facts, context) : null,
    ending.exitCode === 0 && !ended ? soleSentence(table, facts, context) : null,
    ending.exitCode === 0 && !ended && table.textAnswers && stream.text_mode && saysSomething(facts)
      ? success(facts, 'exit 0 with an answer in plain output', 'likely')
      : null,
  ];
};

const simple = (cause: Cause, why: string, more: Partial<Finding> = {}): Finding => ({
  cause,
  why,
  tier: null,
  confidence: 'proven',
  ...more,
});

const success = (facts: Facts, why: string, confidence: Finding['confidence'] = 'proven'): Finding =>
  simple('success', why, {
    confidence,
    tier: facts.stream.result === null ? null : 'structured',
    // A subagent's limit can hide under a completed parent (CC#94530): seen, but nothing to decide on.
    switches: hiddenLimit(facts.stream) ? null : false,
  });

/** Stops that say why. `teardown` and `evidence_stop` do not: there the evidence of before speaks. */
const intents: Partial<Record<StopReason, Cause>> = {
  cancel: 'cancelled',
  deadline: 'timed_out',
  stall: 'stalled',
  log_limit: 'log_limit',
  memory_limit: 'memory_limit',
  shutdown: 'shutdown',
};

const intent = (facts: Facts): Finding | null => {
  const cause = facts.stop === null ? undefined : intents[facts.stop.reason];
  if (cause === undefined) return null;
  const detail = facts.stop!.detail === null ? '' : ` (${facts.stop!.detail.slice(0, 200)})`;
  return simple(cause, `Drover stopped it: ${facts.stop!.reason}${detail}`);
};

/** Evidence that a code shared by many causes needs: a report over several lines, or a sentence of this CLI. */
const specific = (table: CliTable, facts: Facts, context: Context): Finding | null => {
  const report = table.report(facts.stream);
  // While a tool runs, the report may be that of a CLI which the tool itself has started.
  if (report?.switches === true && facts.stream.open_tool !== null) report.switches = null;
  return report ?? lineFinding(facts.stream, (line) => table.line(line, context));
};

const exitFinding = (table: CliTable, code: number, facts: Facts, context: Context): Finding | null => {
  const own = table.exits[code];
  const byHost = lineFinding(facts.stream, (line) => {
    const row = sentenceIn(spawnSentences, line);
    return row ? findingOf(row, line, context) : null;
  });
  const why = `exit ${code}`;
  if (code === 126) return byHost ?? simple('spawn_not_executable', why, { confidence: 'likely' });
  if (code === 127) return byHost ?? simple('spawn_not_found', why, { confidence: 'likely' });
  if (code === 9009) return simple('spawn_not_found', why);
  // cmd.exe gives 1 for an unknown program, docker 255, in the language of the host: then their sentence must be all that
  // was said, because a tool of a living CLI prints the same. A list too long is told by no tool.
  if (byHost !== null && (spokenLines(facts.stream).length <= 2 || byHost.cause === 'spawn_args_too_long'))
    return byHost;
  if (own === undefined || own.cause === 'unknown') return null;
  return { ...findingOf(own, '', context), why, tier: null };
};

const lineOf = (table: CliTable, facts: Facts, context: Context): Finding | null =>
  lineFinding(facts.stream, (line) => table.line(line, context)) ??
  noted(table, facts, context) ??
  lineFinding(facts.stream, (line) => hostSentence(line, context)) ??
  lineFinding(facts.stream, (line) => crashSentence(line, context));

/** Exit 0: only when one owned sentence is all that was said (odpf#145: old builds exited 0 on API errors). */
const soleSentence = (table: CliTable, facts: Facts, context: Context): Finding | null => {
  const said = spokenLines(facts.stream).filter((l) => l.stream === 'stdout');
  if (said.length !== 1 || facts.stream.model_spoke || facts.stream.open_tool !== null) return null;
  return table.line(said[0]!.text.trim(), context);
};

/** `(note of whoever collected it) sentence`: the line is not whole, so it names a cause and decides nothing else. */
const noted = (table: CliTable, facts: Facts, context: Context): Finding | null =>
  lineFinding(facts.stream, (line) => {
    const rest = /^\([^()]*\) (\S.*)$/.exec(line)?.[1];
    const found = rest === undefined ? null : table.line(rest, context);
    return found === null ? null : { ...found, switches: null };
  });

/** More than a collector's note in parentheses. */
const saysSomething = (facts: Facts): boolean =>
  spokenLines(facts.stream).some((l) => l.stream === 'stdout' && !/^\([^()]*\)$/.test(l.text.trim()));

/** No rule decided. What is not known is called so. */
const nothingKnown = (facts: Facts, ending: Ending): Finding => {
  const { stream } = facts;
  if (facts.stop?.reason === 'teardown') return simple('shutdown', 'Drover tore it down before it had a result');
  const seen = stream.bytes > 0 && (stream.model_spoke || stream.session_id !== null || stream.lines.some(onStdout));
  if (ending.exitCode === 0)
    // A CLI that never said a word may be the wrong program (claude-mem#2222): again would be the same.
    return simple('no_result', 'exit 0 without a terminal event', { retryable: seen });
  // Nothing ran, and whoever was asked to run it answered with a status: a runner, never a login.
  const refused = facts.spawned_at === null && stream.lines.some((l) => /^HTTP (502|503)\b/.test(l.text));
  if (ending.exitCode === null && refused)
    return simple('agent_unreachable', 'the runner did not take it', { confidence: 'likely' });
  // We held it, and its holder died before it did: it may have ended well.
  if (ending.exitCode === null && facts.spawned_at !== null)
    return simple('unknown', 'it is gone, and nobody saw how it ended', {
      confidence: 'unknown',
      retryable: false,
      switches: false,
    });
  if (ending.exitCode === null && stream.bytes > 0)
    return simple('killed_unknown', 'it is gone, and nobody saw how it ended', { confidence: 'unknown' });
  // These CLIs say why on stdout. When it has no word of theirs, the reason was lost: it may have been a login or a limit. Among events
  // a plain line is a wrapper's.
  const own = stream.cli !== 'command' && stream.cli !== 'any';
  const events = stream.session_id !== null || stream.model_spoke || stream.unknown_events > 0;
  const lost = own && (events || !spokenLines(stream).some(onStdout));
  return simple('unknown', `exit ${ending.exitCode ?? 'not known'}, and nothing says why`, {
    confidence: 'unknown',
    retryable: false,
    switches: lost ? null : false,
  });
};

const onStdout = (line: { stream: string }): boolean => line.stream === 'stdout';

const switchOf = (finding: Finding): boolean | null => {
  const open = causes[finding.cause].switches || finding.cause === 'unknown' || finding.cause === 'success';
  if (finding.switches === null) return open ? null : false;
  return causes[finding.cause].switches && finding.switches === true;
};

/** What else was found, in order, each once; unknowns say nothing. */
const secondaryOf = (cause: Cause, found: readonly Finding[]): Cause[] => {
  const vague: readonly Cause[] = ['unknown', 'killed_unknown', 'no_result', 'success', cause];
  const others = found.map((f) => f.cause).filter((c) => !vague.includes(c));
  return [...new Set(others)].slice(0, 5);
};
