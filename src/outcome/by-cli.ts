/**
 * What each CLI's table offers to the precedence, by the kind of CLI. For `any` (recorded evidence of an unknown program) the
 * terminal event names its CLI itself. One row per CLI, so that the precedence has no `if (cli === ...)`.
 */
import type { StreamFacts } from '../contract/facts.ts';
import { claudePending, claudeRetrying, claudeSucceeded, claudeTerminal } from './claude-failure.ts';
import { claudeSentence } from './claude-table.ts';
import { codexExit, codexLine, codexPending, codexRetrying, codexTerminal } from './codex-table.ts';
import { withWholeResult } from './drifted-result.ts';
import type { Context, Finding } from './finding.ts';
import { geminiExit, geminiLine, geminiReport, geminiRetrying, geminiTerminal } from './gemini-table.ts';
import type { OwnedSentence } from './owned-lines.ts';

export interface CliTable {
  /** No terminal events at all: exit 0 is the success. */
  plain: boolean;
  /** A recorded plain answer with exit 0 may be its text mode. Our own runs ask for events: there it is no success (R33). */
  textAnswers: boolean;
  /** The terminal event for the prompt says success. */
  succeeded(stream: StreamFacts): boolean;
  /** The terminal event says failure. */
  terminal(stream: StreamFacts, context: Context): Finding | null;
  /** No terminal event, but its last structured word was an error. */
  pending(stream: StreamFacts, context: Context): Finding | null;
  /** It was retrying: explains a silence or a plain exit, never a kill. */
  retrying(stream: StreamFacts, context: Context): Finding | null;
  /** A whole line that this CLI owns. */
  line(line: string, context: Context): Finding | null;
  /** Evidence spread over several lines of its error output. */
  report(stream: StreamFacts): Finding | null;
  exits: Record<number, OwnedSentence>;
}

const none = () => null;

const claude: CliTable = {
  plain: false,
  textAnswers: true,
  succeeded: (s) => s.result !== null && claudeSucceeded(withWholeResult(s).result!),
  terminal: (s, context) => claudeTerminal(withWholeResult(s), context),
  pending: claudePending,
  retrying: claudeRetrying,
  line: (line, context) => claudeSentence(line, context),
  report: none,
  // No code of its own beyond 0 and 1; 7 is E2BIG handed on by a port helper that could not start it (OSA#130).
  exits: { 7: { match: /^/, cause: 'spawn_args_too_long' } },
};

const codex: CliTable = {
  plain: false,
  textAnswers: false,
  succeeded: (s) => s.result?.type === 'turn.completed',
  terminal: codexTerminal,
  pending: codexPending,
  retrying: codexRetrying,
  line: codexLine,
  report: none,
  exits: codexExit,
};

const gemini: CliTable = {
  plain: false,
  textAnswers: false,
  // Without a status, only an error says that it failed.
  succeeded: (s) =>
    s.result?.type === 'result' &&
    (s.result.status === 'success' ||
      (s.result.status === undefined && s.result.error === undefined && typeof s.result.stats === 'object')),
  terminal: geminiTerminal,
  pending: none,
  retrying: geminiRetrying,
  line: geminiLine,
  report: geminiReport,
  exits: geminiExit,
};

const plain: CliTable = {
  plain: true,
  textAnswers: false,
  succeeded: () => false,
  terminal: none,
  pending: none,
  retrying: none,
  line: none,
  report: none,
  exits: {},
};

export const tableFor = (stream: StreamFacts): CliTable => {
  switch (stream.cli) {
    case 'claude':
    case 'http':
      return claude;
    case 'codex':
      return codex;
    case 'gemini':
      return gemini;
    case 'command':
      return plain;
    case 'any': {
      const type = stream.result?.type;
      if (type === 'turn.completed' || type === 'turn.failed') return codex;
      if (type !== 'result') return plain;
      return typeof stream.result?.status === 'string' ? gemini : claude;
    }
  }
};
