/**
 * Claude Code's stream-json as 2.1.332 writes it, as far as the demo needs it. Written with writeSync: a process that is
 * killed in the next line has still said what it said. It claims no tokens and no cost, for it used none.
 */
import { writeSync } from 'node:fs';

export const shimVersion = '2.1.332-drover-demo';
const model = 'drover-demo-shim';

export interface Speaker {
  init(): void;
  text(text: string): void;
  /** A tool call with its answer; the caller really did it in between. */
  tool(name: string, input: Record<string, unknown>, work: () => string): void;
  raw(event: Record<string, unknown>): void;
  success(text: string): void;
  /** An API error the way 2.1.332 tells it: a synthetic assistant message, then a result with subtype success. */
  apiError(text: string, fields: Record<string, unknown>, error: string): void;
}

const usage = { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };

interface Told {
  sessionId: string;
  permissionMode: string;
  cwd: string;
  write?: (line: string) => void;
}

export const speaker = (told: Told): Speaker => {
  const began = performance.now();
  const write = told.write ?? ((line: string) => void writeSync(1, line));
  const session = { session_id: told.sessionId };
  let counter = 0;
  const raw = (event: Record<string, unknown>) => write(`${JSON.stringify({ ...event, ...session })}\n`);
  const assistant = (content: Record<string, unknown>, more: Record<string, unknown> = {}) =>
    raw({
      type: 'assistant',
      message: {
        id: `msg_demo_${++counter}`,
        type: 'message',
        role: 'assistant',
        model,
        content: [content],
        stop_reason: null,
        usage,
      },
      parent_tool_use_id: null,
      ...more,
    });
  const result = (fields: Record<string, unknown>) =>
    raw({
      type: 'result',
      subtype: 'success',
      duration_ms: Math.round(performance.now() - began),
      num_turns: Math.max(1, counter),
      permission_denials: [],
      total_cost_usd: 0,
      usage,
      ...fields,
    });

  return {
    raw,
    init: () =>
      raw({
        type: 'system',
        subtype: 'init',
        cwd: told.cwd,
        tools: ['Bash', 'Read', 'Write'],
        mcp_servers: [],
        model,
        permissionMode: told.permissionMode,
        apiKeySource: 'none',
        claude_code_version: shimVersion,
      }),
    text: (text) => assistant({ type: 'text', text }),
    tool: (name, input, work) => {
      const id = `toolu_demo_${counter + 1}`;
      assistant({ type: 'tool_use', id, name, input });
      const answer = work();
      raw({
        type: 'user',
        message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: answer }] },
        parent_tool_use_id: null,
      });
    },
    success: (text) => {
      assistant({ type: 'text', text });
      result({ is_error: false, result: text, stop_reason: 'end_turn', terminal_reason: 'completed' });
    },
    apiError: (text, fields, error) => {
      raw({
        type: 'assistant',
        message: {
          model: '<synthetic>',
          role: 'assistant',
          stop_reason: 'stop_sequence',
          type: 'message',
          content: [{ type: 'text', text }],
        },
        parent_tool_use_id: null,
        error,
        is_api_error_message: true,
        request_id: 'req_drover_demo',
        ...fields,
      });
      result({
        is_error: true,
        num_turns: 1,
        stop_reason: 'stop_sequence',
        terminal_reason: 'api_error',
        ...fields,
        result: text,
      });
    },
  };
};
