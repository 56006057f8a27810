/**
 * How a test tells the scripted provider what to do: `[[mode:tool path=hello.txt content="hi there"]]` in the message to
 * the agent. The newest marker in the conversation counts, so each turn of a chat can ask for something else.
 */

export interface Script {
  mode: string;
  args: Record<string, string>;
  /** Tool results that came after the marker: which step of the script this request is. */
  step: number;
  /** Turns of the user with a text, over the whole conversation: what `--resume` must bring back. */
  userTurns: number;
  /** What the tools said since the marker, as text. */
  results: string[];
  /** The user's own texts since the marker, that one among them. */
  said: string[];
}

interface Block {
  type: string;
  text?: string;
  /** Of a tool's result. */
  content?: string | Block[];
}
export interface Message {
  role: string;
  content: string | Block[];
}

const marker = /\[\[mode:([a-z0-9-]+)((?:\s+[a-z_]+=(?:"(?:[^"\\]|\\.)*"|[^\s\]]+))*)\s*\]\]/g;
const argument = /([a-z_]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s\]]+))/g;

const textOf = (content: string | Block[] | undefined): string =>
  typeof content === 'string' ? content : (content ?? []).map((b) => b.text ?? '').join('');

const blocks = (m: Message): Block[] =>
  typeof m.content === 'string' ? [{ type: 'text', text: m.content }] : m.content;
// The CLI adds reminders of its own to the user's messages: they are nobody's turn.
const isOwnText = (b: Block) => b.type === 'text' && !(b.text ?? '').trimStart().startsWith('<system-reminder>');

export const readScript = (messages: Message[], otherwise: string): Script => {
  let found: Script = { mode: otherwise, args: {}, step: 0, userTurns: 0, results: [], said: [] };
  let userTurns = 0;
  for (const message of messages.filter((m) => m.role === 'user')) {
    const own = blocks(message).filter(isOwnText);
    if (own.length > 0) userTurns++;
    const results = blocks(message).filter((b) => b.type === 'tool_result');
    found.step += results.length;
    found.results.push(...results.map((b) => textOf(b.content)));
    found.said.push(...own.map((b) => b.text ?? ''));
    for (const block of own)
      for (const m of (block.text ?? '').matchAll(marker))
        found = {
          mode: m[1]!,
          args: Object.fromEntries(
            [...m[2]!.matchAll(argument)].map((a) => [a[1]!, a[2]?.replace(/\\(.)/g, '$1') ?? a[3]!]),
          ),
          step: 0,
          userTurns: 0,
          results: [],
          said: [],
        };
  }
  return { ...found, userTurns };
};

/** What a tool of an MCP server is called with: `agent` is short for agent_name; numbers and truths are meant as such. */
export const argumentsOf = ({ args }: Script): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(args)
      .filter(([name]) => !['tool', 'times', 'text', 'turns', 'input_tokens', 'output_tokens'].includes(name))
      .map(([name, value]) => [
        name === 'agent' ? 'agent_name' : name,
        /^(\d+|true|false|\[.*\])$/s.test(value) ? JSON.parse(value) : value,
      ]),
  );
