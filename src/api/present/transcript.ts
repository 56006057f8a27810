/**
 * The log of an execution as people and clients read it: a CLI's own stream-json events as they are, with their time; lines
 * that are no event as `{type: "output", stream, text}`. Also what those events say about tools, for the live views. It
 * shows what the agent did; it is never evidence for how the run ended.
 */
import { LogEntry } from '../../contract/runner-protocol.ts';
import { iso } from '../route.ts';

export type Entry = Record<string, unknown>;

/** One stored line; null when it is not what a runner may send. */
export const readEntry = (stored: string): LogEntry | null => {
  try {
    return LogEntry.safeParse(JSON.parse(stored)).data ?? null;
  } catch {
    return null;
  }
};

/** What cannot be read is shown as text: a log must never fail to open. */
export const presentEntry = (stored: string): Entry => {
  const entry = readEntry(stored);
  if (entry === null) return { type: 'output', stream: 'drover', text: stored };
  const { at, stream, event, text } = entry;
  const timestamp = iso(at);
  if (event !== null) return { timestamp, ...event };
  return { type: 'output', timestamp, stream, text: text ?? '' };
};

export interface ToolCall {
  id: string;
  tool: string;
  input: unknown;
  started_at: string | null;
  ended_at: string | null;
  /** Null while it runs, and when the run ended without an answer. */
  success: boolean | null;
  output: string | null;
}

export const callMs = ({ started_at, ended_at }: ToolCall): number | null =>
  started_at === null || ended_at === null ? null : Math.max(0, Date.parse(ended_at) - Date.parse(started_at));

const outputShown = 2_000;
const inputShown = 4_000;

/** The tool calls of a stretch of log, in the order in which they began. */
export const toolCallsOf = (entries: readonly Entry[]): ToolCall[] => {
  const calls = new Map<string, ToolCall>();
  for (const entry of entries)
    for (const block of blocksOf(entry)) {
      if (block.type === 'tool_use' && typeof block.id === 'string')
        calls.set(block.id, {
          id: block.id,
          tool: String(block.name ?? ''),
          input: shortInput(block.input),
          started_at: timeOf(entry),
          ended_at: null,
          success: null,
          output: null,
        });
      const call = block.type === 'tool_result' ? calls.get(String(block.tool_use_id)) : undefined;
      if (call === undefined) continue;
      call.ended_at = timeOf(entry);
      call.success = block.is_error !== true;
      call.output = textOf(block.content).slice(0, outputShown).toWellFormed();
    }
  return [...calls.values()];
};

const timeOf = (entry: Entry): string | null => (typeof entry.timestamp === 'string' ? entry.timestamp : null);

const blocksOf = (entry: Entry): Entry[] => {
  const message = entry.type === 'assistant' || entry.type === 'user' ? entry.message : null;
  const content = typeof message === 'object' && message !== null ? (message as Entry).content : null;
  return Array.isArray(content) ? content.filter((b): b is Entry => typeof b === 'object' && b !== null) : [];
};

const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content == null ? '' : JSON.stringify(content);
  return content.map((c: Entry) => (typeof c?.text === 'string' ? c.text : '')).join('\n');
};

const shortInput = (input: unknown): unknown => {
  const text = JSON.stringify(input ?? null);
  return text.length <= inputShown ? (input ?? null) : `${text.slice(0, inputShown).toWellFormed()}…`;
};
