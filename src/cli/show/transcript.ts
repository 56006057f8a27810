/**
 * One entry of an execution's log as the lines a person reads: the agent's text, each tool call on one line, what went
 * wrong, and the CLI's own notes. An entry is an event of the CLI, or `{type: "output", stream, text}` for a line that was
 * none; unknown types give nothing. It shows and never judges: what an ending means is the server's verdict.
 */
import { oneLine, plain } from '../terminal.ts';

export interface Line {
  kind: 'text' | 'tool' | 'note' | 'trouble';
  text: string;
}

type Rec = Record<string, unknown>;
const rec = (value: unknown): Rec => (typeof value === 'object' && value !== null ? (value as Rec) : {});
const str = (value: unknown): string => (typeof value === 'string' ? value : '');
const list = (value: unknown): Rec[] => (Array.isArray(value) ? value.map(rec) : []);

const longest = 160;

export const linesOf = (entry: Rec): Line[] => {
  if (entry.type !== 'output') return eventLines(entry);
  const text = plain(str(entry.text)).trimEnd();
  if (text === '') return [];
  if (entry.stream === 'stderr') return [{ kind: 'trouble', text }];
  return [{ kind: entry.stream === 'drover' ? 'note' : 'text', text }];
};

const eventLines = (event: Rec): Line[] => {
  // A subagent's events stand behind its own tool line.
  if (typeof event.parent_tool_use_id === 'string') return [];
  switch (event.type) {
    case 'assistant':
      return assistantLines(event);
    case 'user':
      return list(rec(event.message).content).flatMap(toolAnswer);
    case 'system':
      return systemLines(event);
    case 'rate_limit_event': {
      const info = rec(event.rate_limit_info);
      if (info.status !== 'rejected') return [];
      const reset = typeof info.resetsAt === 'number' ? `, resets ${new Date(info.resetsAt * 1000).toISOString()}` : '';
      return [{ kind: 'trouble', text: `limit: ${str(info.rateLimitType) || 'rejected'}${reset}` }];
    }
    default:
      return [];
  }
};

const assistantLines = (event: Rec): Line[] => {
  const message = rec(event.message);
  const trouble = message.model === '<synthetic>' && event.error !== undefined;
  return list(message.content).flatMap((block): Line[] => {
    if (block.type === 'tool_use') return [{ kind: 'tool', text: toolCall(str(block.name), rec(block.input)) }];
    const text = block.type === 'text' ? plain(str(block.text)).trim() : '';
    return text === '' ? [] : [{ kind: trouble ? 'trouble' : 'text', text }];
  });
};

/** The argument by which a person recognises the call. */
const telling = ['file_path', 'path', 'command', 'pattern', 'url', 'query', 'description', 'prompt', 'agent_name'];

const toolCall = (name: string, input: Rec): string => {
  const key = telling.find((k) => typeof input[k] === 'string') ?? Object.keys(input)[0];
  const value = key === undefined ? '' : typeof input[key] === 'string' ? str(input[key]) : JSON.stringify(input[key]);
  return oneLine(`${name} ${value ?? ''}`, longest);
};

const toolAnswer = (block: Rec): Line[] => {
  if (block.type !== 'tool_result' || block.is_error !== true) return [];
  const text =
    typeof block.content === 'string'
      ? block.content
      : list(block.content)
          .map((c) => str(c.text))
          .join(' ');
  return [{ kind: 'trouble', text: oneLine(`the tool failed: ${text}`, longest) }];
};

const systemLines = (event: Rec): Line[] => {
  if (event.subtype === 'init') {
    const parts = [str(event.claude_code_version), str(event.model), str(event.permissionMode)].filter((p) => p !== '');
    return [{ kind: 'note', text: oneLine(`started: ${parts.join(' · ')}`, longest) }];
  }
  if (event.subtype === 'api_retry') {
    const why = [event.error_status, event.error].filter((p) => p !== null && p !== undefined).join(' ');
    return [
      {
        kind: 'note',
        text: oneLine(`the provider refused (${why}); try ${event.attempt} of ${event.max_retries}`, longest),
      },
    ];
  }
  return [];
};
