/**
 * The entries of a run's log → what a person reads: messages, thoughts, tool calls with their results folded into them,
 * plain output, notes, the result. Pure but for the list it builds; a block is replaced, never changed, when its result
 * comes, so that a screen can tell by identity what is new. Unknown entries become notes: nothing is hidden.
 */
type Json = Record<string, unknown>;

export type Block = { id: number; at: number | null } & (
  | { kind: 'said'; by: 'agent' | 'person'; text: string }
  | { kind: 'thought'; text: string }
  | {
      kind: 'tool';
      call: string | null;
      name: string;
      /** One line: what it was asked to do. */
      input: string;
      inputFull: string;
      result: string | null;
      failed: boolean;
      /** A subagent's own call. */
      nested: boolean;
    }
  | { kind: 'output'; stream: 'stdout' | 'stderr' | 'drover'; text: string }
  | { kind: 'note'; title: string; text: string; full: string }
  | { kind: 'result'; ok: boolean; title: string; text: string }
);

/** A single text above this is cut: two megabytes in one node freeze a page, and the log file has the rest. */
const mostText = 100_000;

const isJson = (v: unknown): v is Json => typeof v === 'object' && v !== null && !Array.isArray(v);
const str = (v: unknown): string | null => (typeof v === 'string' ? v : null);
const cut = (t: string): string =>
  t.length > mostText ? `${t.slice(0, mostText)}\n… ${t.length - mostText} more characters` : t;
const pretty = (v: unknown): string => cut(typeof v === 'string' ? v : (JSON.stringify(v, null, 2) ?? ''));

/** The argument that tells most about a call: the rest is in the fold. */
const telling = [
  'command',
  'file_path',
  'path',
  'pattern',
  'url',
  'query',
  'description',
  'prompt',
  'agent_name',
  'message',
];

export const inputLine = (input: unknown): string => {
  if (typeof input === 'string') return firstLine(input);
  if (!isJson(input)) return '';
  for (const key of telling) {
    const value = str(input[key]);
    if (value !== null && value.trim() !== '') return firstLine(value);
  }
  const text = JSON.stringify(input);
  return text === '{}' ? '' : firstLine(text);
};

const firstLine = (text: string): string => {
  const line = text.trimStart().split('\n', 1)[0]!;
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
};

/** A tool's result is a text or a list of parts. */
const resultText = (content: unknown): string => {
  if (typeof content === 'string') return cut(content);
  if (!Array.isArray(content)) return content === null || content === undefined ? '' : pretty(content);
  return cut(
    content
      .map((part) => (isJson(part) ? (str(part.text) ?? `[${str(part.type) ?? 'part'}]`) : String(part)))
      .join('\n'),
  );
};

/** Blocks kept: some 20 MB at the worst of ordinary runs. What is older is in the log, and `dropped` says how much. */
const mostBlocks = 4_000;

interface Fold {
  push(entry: Json): void;
  /** A new array after each push that changed something. */
  blocks(): readonly Block[];
  readonly dropped: number;
}

export const createFold = (most = mostBlocks): Fold => {
  let list: Block[] = [];
  let shared = false;
  let nextId = 1;
  let dropped = 0;
  /** Calls without a result yet → the id of their block. Ids rise by one, so a block stands at its id less the first one. */
  const open = new Map<string, number>();

  const own = () => {
    if (shared) list = list.slice();
    shared = false;
  };
  // A union keeps its members apart only when each is written out: the id is added to whichever it is.
  const add = (block: DistributiveOmit<Block, 'id'>) => {
    own();
    list.push({ ...block, id: nextId++ } as Block);
    // In tenths: dropping one at a time would copy the list each time.
    if (list.length > most * 1.1) dropped += list.splice(0, list.length - most).length;
  };

  const output = (stream: 'stdout' | 'stderr' | 'drover', text: string, at: number | null) => {
    const last = list.at(-1);
    if (last?.kind === 'output' && last.stream === stream && last.text.length < mostText) {
      own();
      list[list.length - 1] = { ...last, text: `${last.text}\n${cut(text)}` };
    } else add({ kind: 'output', stream, text: cut(text), at });
  };

  const parts = (message: unknown): unknown[] => {
    const content = isJson(message) ? message.content : message;
    return Array.isArray(content) ? content : typeof content === 'string' ? [{ type: 'text', text: content }] : [];
  };

  const assistant = (e: Json, at: number | null) => {
    for (const part of parts(e.message)) {
      if (!isJson(part)) continue;
      if (part.type === 'text') {
        const text = str(part.text) ?? '';
        if (text.trim() !== '') add({ kind: 'said', by: 'agent', text: cut(text), at });
      } else if (part.type === 'thinking' || part.type === 'redacted_thinking')
        add({ kind: 'thought', text: cut(str(part.thinking) ?? '(not shown by the provider)'), at });
      else if (part.type === 'tool_use' || part.type === 'server_tool_use') {
        const call = str(part.id);
        add({
          kind: 'tool',
          call,
          name: str(part.name) ?? 'tool',
          input: inputLine(part.input),
          inputFull: pretty(part.input),
          result: null,
          failed: false,
          nested: str(e.parent_tool_use_id) !== null,
          at,
        });
        if (call !== null) open.set(call, nextId - 1);
      } else add({ kind: 'note', title: str(part.type) ?? 'part', text: '', full: pretty(part), at });
    }
  };

  const user = (e: Json, at: number | null) => {
    for (const part of parts(e.message)) {
      if (!isJson(part)) continue;
      if (part.type !== 'tool_result') {
        const text = str(part.text) ?? '';
        if (text.trim() !== '') add({ kind: 'said', by: 'person', text: cut(text), at });
        continue;
      }
      const call = str(part.tool_use_id) ?? '';
      const place = (open.get(call) ?? 0) - (list[0]?.id ?? 0);
      const block = list[place];
      const result = resultText(part.content);
      const failed = part.is_error === true;
      if (block?.kind === 'tool' && block.call === call) {
        own();
        list[place] = { ...block, result, failed };
        open.delete(call);
      } else add({ kind: 'note', title: 'Result of an earlier call', text: firstLine(result), full: result, at });
    }
  };

  const event = (e: Json, at: number | null) => {
    switch (e.type) {
      case 'assistant':
        return assistant(e, at);
      case 'user':
        return user(e, at);
      // Pieces of what comes whole a moment later.
      case 'stream_event':
        return;
      case 'result': {
        const ok = e.is_error !== true && e.subtype === 'success';
        const text = str(e.result) ?? (Array.isArray(e.errors) ? e.errors.join('\n') : '');
        return add({
          kind: 'result',
          ok,
          title: ok ? 'Result' : `Result: ${str(e.subtype) ?? 'error'}${e.is_error === true ? ', is_error' : ''}`,
          text: cut(text),
          at,
        });
      }
      case 'system': {
        const about = [e.model, e.permissionMode, e.apiKeySource].map(str).filter((t) => t !== null);
        const title = e.subtype === 'init' ? 'Session began' : (str(e.subtype) ?? 'system').replaceAll('_', ' ');
        return add({ kind: 'note', title, text: e.subtype === 'init' ? about.join(' · ') : '', full: pretty(e), at });
      }
      case 'output':
      case 'text': {
        const stream = e.stream === 'stderr' || e.stream === 'drover' ? e.stream : 'stdout';
        return output(stream, str(e.text) ?? pretty(e), at);
      }
      default:
        return add({
          kind: 'note',
          title: (str(e.type) ?? 'event').replaceAll('_', ' '),
          text: '',
          full: pretty(e),
          at,
        });
    }
  };

  return {
    push(entry) {
      const at =
        typeof entry.at === 'number' ? entry.at : Date.parse(str(entry.at) ?? str(entry.timestamp) ?? '') || null;
      // As stored: {at, stream, event, text}. As a CLI sent it: the event itself.
      if (isJson(entry.event)) event(entry.event, at);
      else if (entry.type === undefined && typeof entry.text === 'string') event({ ...entry, type: 'text' }, at);
      else event(entry, at);
    },
    blocks() {
      shared = true;
      return list;
    },
    get dropped() {
      return dropped;
    },
  };
};

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
