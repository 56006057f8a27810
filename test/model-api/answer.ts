/** What the provider says on the wire: one streamed message, whole, slow or cut off, or an error body as the real one sends it. */
import type { ServerResponse } from 'node:http';

export interface ToolUse {
  name: string;
  input: Record<string, unknown>;
}
interface Spoken {
  model: string;
  text?: string;
  /** Asked for in one message: side by side, where the CLI does so. */
  tools?: ToolUse[];
  inputTokens: number;
  outputTokens: number;
  /** Pieces of the text, this many ms apart. */
  pieces?: number;
  pauseMs?: number;
  /** Break the connection after the first piece. */
  cut?: boolean;
  /** Instead of `tool_use` and `end_turn`. */
  stopReason?: string;
}

let count = 0;

export const speak = async (res: ServerResponse, said: Spoken): Promise<void> => {
  const id = ++count;
  res.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': `req_${id}` });
  const send = (type: string, data: Record<string, unknown>) =>
    res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  send('message_start', {
    message: {
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model: said.model,
      content: [],
      stop_reason: null,
      usage: { input_tokens: said.inputTokens, output_tokens: 1 },
    },
  });
  if (said.tools) {
    for (const [index, tool] of said.tools.entries()) {
      send('content_block_start', {
        index,
        content_block: { type: 'tool_use', id: `toolu_${id}_${index}`, name: tool.name, input: {} },
      });
      send('content_block_delta', {
        index,
        delta: { type: 'input_json_delta', partial_json: JSON.stringify(tool.input) },
      });
      if (index < said.tools.length - 1) send('content_block_stop', { index });
    }
  } else {
    send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    const text = said.text ?? '';
    const size = Math.max(1, Math.ceil(text.length / (said.pieces ?? 1)));
    for (let at = 0; at < text.length; at += size) {
      send('content_block_delta', { index: 0, delta: { type: 'text_delta', text: text.slice(at, at + size) } });
      if (said.cut) {
        // What was written must leave before the reset.
        await new Promise((r) => setImmediate(r));
        res.destroy();
        return;
      }
      if (said.pauseMs) await new Promise((r) => setTimeout(r, said.pauseMs));
      if (res.destroyed) return;
    }
  }
  send('content_block_stop', { index: (said.tools?.length ?? 1) - 1 });
  send('message_delta', {
    delta: { stop_reason: said.stopReason ?? (said.tools ? 'tool_use' : 'end_turn') },
    usage: { output_tokens: said.outputTokens },
  });
  send('message_stop', {});
  res.end();
};

export const refuse = (
  res: ServerResponse,
  status: number,
  type: string,
  message: string,
  headers: Record<string, string> = {},
): void => {
  res.writeHead(status, { 'content-type': 'application/json', 'request-id': `req_${++count}`, ...headers });
  res.end(JSON.stringify({ type: 'error', error: { type, message } }));
};

/** An intermediary answers instead of the provider: no request id, HTML. */
export const page = (res: ServerResponse, status: number): void => {
  res.writeHead(status, { 'content-type': 'text/html' });
  res.end(
    '<!DOCTYPE html><html><title>Attention Required! | Cloudflare</title><body>Sorry, you have been blocked</body></html>',
  );
};
