/**
 * A slice → the transcript's entries, as the lines of NDJSON that go to the server. A pure function of the stream files and
 * the journal: the same slice gives the same bytes on every call. Never evidence: that is the reader's.
 */
import type { CliKind } from '../contract/facts.ts';
import type { LogEntry } from '../contract/runner-protocol.ts';
import type { Line } from '../kernel/lines.ts';
import type { Slice } from './journal.ts';
import { type StreamName, type Streams, streamNames } from './streams.ts';

/** One entry on the wire: below the server's body bound of 2 MB with room for others beside it. */
const longestEntry = 256 * 1024;
/** What is kept of an entry above that. */
const excerpt = 16 * 1024;

/** CLIs whose stdout is one JSON event per line. */
const speaksJson: readonly CliKind[] = ['claude', 'codex', 'gemini', 'http'];

/**
 * Events of CLIs have some ten levels. From a few thousand on, JSON that can be read cannot be written again, here, on the server or in
 * a browser: such a line is shown as text.
 */
const deepest = 100;

const isDeep = (text: string): boolean => {
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '"') quoted = !quoted;
    else if (c === '\\') i++;
    else if (quoted) continue;
    else if (c === '{' || c === '[') {
      if (++depth > deepest) return true;
    } else if (c === '}' || c === ']') depth--;
  }
  return false;
};

const parseEvent = (text: string): Record<string, unknown> | null => {
  if (!text.trimStart().startsWith('{') || isDeep(text)) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
};

const entryOf = (cli: CliKind, stream: StreamName, line: Line, clean: (t: string) => string, at: number) => {
  const text = clean(line.text);
  if (line.bytes > longestEntry)
    return { at, stream, event: null, text: `${text.slice(0, excerpt)}… (${line.bytes} bytes in all)` };
  const event = stream === 'stdout' && speaksJson.includes(cli) ? parseEvent(text) : null;
  return { at, stream, event, text: event === null ? text : null } satisfies LogEntry;
};

export const entriesOf = async (
  slice: Slice,
  streams: Streams,
  cli: CliKind,
  clean: (text: string) => string,
): Promise<string[]> => {
  if (slice.note !== null)
    return [JSON.stringify({ at: slice.at, stream: 'drover', event: null, text: slice.note } satisfies LogEntry)];
  const entries: string[] = [];
  for (const name of streamNames)
    for (const line of await streams.lines(name, ...slice[name]))
      entries.push(JSON.stringify(entryOf(cli, name, line, clean, slice.at)));
  // The file was cut from outside: the numbers behind this slice must hold all the same.
  while (entries.length < slice.n)
    entries.push(
      JSON.stringify({ at: slice.at, stream: 'drover', event: null, text: '(this line is gone from the file)' }),
    );
  return entries.slice(0, slice.n);
};
