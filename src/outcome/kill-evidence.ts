/**
 * A process that died by a signal nobody recorded: did its own tool command do it, did it crash, or is the sender unknown?
 * The words "killed" and "terminated" decide nothing here; the signal and the last unfinished command do.
 */
import type { Facts } from '../contract/facts.ts';
import type { Ending } from './ending.ts';
import type { Context, Finding } from './finding.ts';
import { heapSentences, shutdowns } from './host-table.ts';
import { findingOf, lineFinding, sentenceIn, spokenLines } from './owned-lines.ts';

const crashSignals = new Set(['SIGSEGV', 'SIGILL', 'SIGBUS', 'SIGABRT', 'SIGFPE', 'SIGTRAP', 'SIGSYS']);

/**
 * Commands that pick their victims by name: `pkill -f word` matches the command line of the CLI that holds the word. Claude
 * Code (seen: 2.1.332) puts a guard in front of a plain `pkill`; `command pkill` and `/usr/bin/pkill` pass it.
 */
const broadKill =
  /(^|[;&|(\s'"`])(\S*\/)?(pkill|killall|killall5|skill|taskkill(\.exe)?|kill (-\S+ )*-1|kill (-\S+ )*"?\$\{?PPID\}?"?)(\s|[;&|)'"`]|$)/;
/** The same in two steps. */
const listedKill = /\b(pgrep|pidof|lsof -t|fuser)\b.*\bkill\b|\bkill\b.*\b(pgrep|pidof|lsof -t)\b|\bfuser\b.* -\S*k/s;

export const signalFinding = (facts: Facts, ending: Ending, context: Context): Finding | null => {
  if (ending.signal === null) return null;
  const said = (rows: typeof shutdowns): Finding | null =>
    lineFinding(facts.stream, (line) => {
      const row = sentenceIn(rows, line);
      return row ? findingOf(row, line, context) : null;
    });
  const own = selfKill(facts);
  if (own !== null && !crashSignals.has(ending.signal)) return own;
  if (ending.signal === 'SIGXFSZ')
    return {
      cause: 'host_resource_exhausted',
      why: 'SIGXFSZ: a file grew past the size limit of the process',
      tier: null,
      confidence: 'proven',
      retryable: false,
    };
  if (crashSignals.has(ending.signal)) {
    const heap = ending.signal === 'SIGABRT' || ending.signal === 'SIGTRAP' ? said(heapSentences) : null;
    if (heap) return { ...heap, confidence: 'proven' };
    // A wrong processor or a forbidden call comes back each time; a wild pointer or an abort may not.
    const passes = ending.signal !== 'SIGILL' && ending.signal !== 'SIGSYS';
    return { cause: 'crashed', why: `died by ${ending.signal}`, tier: null, confidence: 'proven', retryable: passes };
  }
  const shutdown = said(shutdowns);
  if (shutdown) return shutdown;
  return {
    cause: 'killed_unknown',
    why: `died by ${ending.signal}; no stop of ours and no memory evidence`,
    tier: null,
    confidence: 'unknown',
  };
};

/** The last command that had started and not ended: structured, or, in plain output, echoed behind a prompt. */
const selfKill = (facts: Facts): Finding | null => {
  const open = facts.stream.open_tool?.input ?? null;
  const echoed = facts.stream.text_mode
    ? spokenLines(facts.stream)
        .findLast((l) => l.stream === 'stdout' && /^[$#] /.test(l.text))
        ?.text.slice(2)
    : undefined;
  const command = open ?? echoed ?? null;
  if (command === null || !(broadKill.test(command) || listedKill.test(command))) return null;
  return {
    cause: 'self_killed',
    why: `its last command was: ${command.slice(0, 200)}`,
    tier: null,
    confidence: 'likely',
    retryable: false,
  };
};
