/**
 * Whole lines and what they mean. A table row is a sentence that one program owns, anchored at both ends; nothing is ever
 * searched for inside a line, because "oom" is in "room" and 403 in a timestamp. Which rows hold for a CLI is in its table.
 *
 * A sentence that may move an agent to another credential must stand first or last in what its stream said: CLIs print one
 * such sentence and stop, while a sentence in the middle of a text is a quotation. Nor may anybody else have been able to say
 * it: a tool that still runs, a hook or an MCP server writes to the same stderr.
 */
import type { Cause } from '../contract/causes.ts';
import type { PlainLine, StreamFacts } from '../contract/facts.ts';
import type { Context, Finding } from './finding.ts';
import { resetFromText } from './reset-times.ts';

export interface OwnedSentence {
  /** Anchored. Matched against a line without its listed prefix. */
  match: RegExp;
  cause: Cause;
  /** The sentence is proof that the model API spoke: it may switch (S causes only). Null = not decidable. */
  switches?: boolean | null;
  retryable?: boolean;
  renews?: boolean;
}

export const findingOf = (
  row: OwnedSentence,
  text: string,
  context: Context,
  tier: 'structured' | 'line' = 'line',
): Finding => ({
  cause: row.cause,
  why: `${tier === 'line' ? 'whole line' : 'said'}: "${text.slice(0, 300)}"`,
  tier,
  confidence: tier === 'structured' ? 'proven' : 'likely',
  switches: row.switches === undefined ? false : row.switches,
  retryable: row.retryable,
  renews: row.renews,
  reset_at: row.cause === 'usage_limit' || row.cause === 'rate_limited' ? resetFromText(text, context) : null,
});

export const sentenceIn = (table: readonly OwnedSentence[], text: string): OwnedSentence | null =>
  table.find((row) => row.match.test(text)) ?? null;

/** Notices that CLIs and shells print around their one sentence. */
const noise = [
  /^Reading (additional input|prompt) from stdin\.\.\.$/,
  /^Loaded cached credentials\.$/,
  /^\(node:\d+\) /,
  /^\(Use `node --trace-/,
  /^Exit code \d+$/,
];

export const spokenLines = (stream: StreamFacts): PlainLine[] =>
  stream.lines.filter((l) => !noise.some((n) => n.test(l.text)));

/**
 * Only the CLI can have said this line. An open tool may write to both streams. Once the model has spoken in events, the CLI tells
 * of a refusal in an event of its own, while stderr has the words of whatever was started meanwhile.
 */
const isCliAlone = (stream: StreamFacts, { stream: name }: Pick<PlainLine, 'stream'>): boolean =>
  stream.open_tool === null && (name === 'stdout' || !stream.model_spoke);

/**
 * The finding of the line that decides: of each stream the last line, then the first, then the others, stdout before stderr.
 * `read` returns the finding of one line.
 */
export const lineFinding = (stream: StreamFacts, read: (line: string) => Finding | null): Finding | null => {
  const spoken = spokenLines(stream);
  for (const name of ['stdout', 'stderr'] as const) {
    const lines = spoken.filter((l) => l.stream === name);
    const edges = lines.length > 1 ? [lines.at(-1)!, lines[0]!] : lines;
    for (const line of [...edges, ...lines.slice(1, -1)]) {
      if (line.model_output_after) continue;
      const found = read(line.text.trim());
      if (found === null) continue;
      if (found.switches !== true || (edges.includes(line) && isCliAlone(stream, line))) return found;
    }
  }
  return null;
};
