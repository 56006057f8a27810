/** The reader of Claude Code: what it keeps of a stream, what it bounds, and what no bytes can make it do. */
import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { claudeReader } from './claude.ts';

const usage = (input: number, output: number) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: 50,
  cache_creation_input_tokens: 7,
});
const says = (id: string, block: unknown, more: Record<string, unknown> = {}) => ({
  type: 'assistant',
  message: { id, model: 'claude-sonnet-4-5', content: [block], usage: usage(100, 10) },
  parent_tool_use_id: null,
  ...more,
});
const tool = (id: string, name = 'Bash', input: unknown = { command: 'ls' }) => ({ type: 'tool_use', id, name, input });
const toolResult = (id: string) => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
});
const init = {
  type: 'system',
  subtype: 'init',
  session_id: 's-1',
  model: 'claude-sonnet-4-5',
  permissionMode: 'acceptEdits',
  apiKeySource: 'none',
  claude_code_version: '2.1.332',
  mcp_servers: [{ name: 'drover', status: 'connected' }],
};

const read = (events: unknown[]) => {
  const reader = claudeReader();
  const seen = events.map((e, i) => reader.line('stdout', typeof e === 'string' ? e : JSON.stringify(e), 1000 + i));
  return { facts: reader.facts(), seen, reader };
};

describe('the reader of Claude Code', () => {
  it('takes session, model, mode and version from init', () => {
    expect(read([init]).facts).toMatchObject({
      session_id: 's-1',
      model: 'claude-sonnet-4-5',
      permission_mode: 'acceptEdits',
      api_key_source: 'none',
      cli_version: '2.1.332',
      mcp_servers: [{ name: 'drover', status: 'connected' }],
    });
  });

  it(verifies('R33', 'D21')('keeps the first result and counts the later ones'), () => {
    const { facts, seen } = read([
      says('m1', { type: 'text', text: 'hi' }),
      {
        type: 'result',
        subtype: 'success',
        is_error: false,
        result: 'hi',
        num_turns: 1,
        total_cost_usd: 0.5,
        usage: usage(10, 2),
      },
      { type: 'result', subtype: 'error_during_execution', is_error: true, errors: ['late'] },
    ]);
    expect(facts).toMatchObject({ response: 'hi', results_seen: 2, cost_usd: 0.5, cost_estimated: false });
    expect(facts.result).toMatchObject({ subtype: 'success' });
    expect(seen.map((s) => s.terminal)).toEqual([false, true, true]);
  });

  it('counts turns by message and tool calls by id, and knows which call is open', () => {
    const { facts } = read([
      says('m1', { type: 'text', text: 'let me look' }),
      says('m1', tool('t1')),
      toolResult('t1'),
      says('m2', tool('t2', 'Bash', { command: 'pkill -f node' })),
      // The inner thread of a subagent is not the main thread.
      says('m9', tool('t9'), { parent_tool_use_id: 't2' }),
    ]);
    expect(facts).toMatchObject({
      turns: 2,
      tool_calls: 2,
      open_tool: { name: 'Bash', input: 'pkill -f node', since: 1003 },
    });
  });

  it(verifies('R7', 'R41')('sums the usage of a run that never said its result, and invents no cost'), () => {
    const { facts } = read([
      says('m1', tool('t1')),
      says('m1', { type: 'text', text: 'x' }),
      toolResult('t1'),
      says('m2', { type: 'text', text: 'y' }),
    ]);
    expect(facts.usage).toEqual({
      input_tokens: 200,
      output_tokens: 20,
      cache_read_tokens: 100,
      cache_write_tokens: 14,
    });
    expect(facts).toMatchObject({ cost_usd: null, cost_estimated: false, result: null, response: null });
  });

  it('knows the context in use and the window of the model', () => {
    const { facts } = read([
      init,
      says('m1', { type: 'text', text: 'x' }),
      {
        type: 'result',
        subtype: 'success',
        is_error: false,
        result: 'x',
        modelUsage: { 'claude-haiku': { contextWindow: 100_000 }, 'claude-sonnet-4-5': { contextWindow: 200_000 } },
      },
    ]);
    expect(facts).toMatchObject({ context_used: 167, context_max: 200_000 });
  });

  it('keeps the errors of the main thread, and those of subagents apart', () => {
    const error = {
      error: 'rate_limit',
      is_api_error_message: true,
      api_error_status: 429,
      message: { model: '<synthetic>', content: [] },
    };
    const { facts } = read([
      { type: 'assistant', ...error, parent_tool_use_id: 't1' },
      { type: 'rate_limit_event', rate_limit_info: { status: 'allowed', rateLimitType: 'five_hour' } },
      { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', rateLimitType: 'five_hour', resetsAt: 5 } },
      { type: 'assistant', ...error },
    ]);
    expect(facts.signals.map((s) => s.kind)).toEqual([
      'subagent_error',
      'rate_limit_event',
      'rate_limit_rejected',
      'assistant_error',
    ]);
    expect(facts.signals.at(-1)!.data).toMatchObject({ error: 'rate_limit', api_error_status: 429, synthetic: true });
    expect(facts.model_spoke).toBe(false);
  });

  it('marks what the model spoke after', () => {
    const retry = { type: 'system', subtype: 'api_retry', attempt: 1, error_status: 529, error: 'overloaded' };
    const { facts } = read([
      'Invalid API key · Fix external API key',
      retry,
      says('m1', { type: 'text', text: 'recovered' }),
    ]);
    expect(facts.signals[0]).toMatchObject({ kind: 'api_retry', model_output_after: true });
    expect(facts.lines[0]).toMatchObject({ model_output_after: true });
  });

  it(verifies('R28')('calls a run hopeless after three 401s in a row, and not when the model spoke in between'), () => {
    const retry = (attempt: number, status = 401) => ({
      type: 'system',
      subtype: 'api_retry',
      attempt,
      error_status: status,
      error: 'authentication_failed',
    });
    expect(read([retry(1), retry(2), retry(3)]).seen.map((s) => s.hopeless)).toEqual([false, false, true]);
    expect(read([retry(1), retry(2), says('m', { type: 'text', text: 'x' }), retry(1)]).seen.at(-1)!.hopeless).toBe(
      false,
    );
    expect(read([retry(1, 529), retry(2, 529), retry(3, 529)]).seen.at(-1)!.hopeless).toBe(false);
    expect(read([retry(1), retry(2), retry(3, 500)]).seen.at(-1)!.hopeless).toBe(false);
  });

  it(verifies('R30')('collects denied tools as they are denied, once each'), () => {
    const { facts } = read([
      { type: 'system', subtype: 'permission_denied', tool_name: 'Write', tool_use_id: 't1' },
      {
        type: 'result',
        subtype: 'success',
        is_error: false,
        result: '',
        permission_denials: [{ tool_name: 'Write', tool_input: { content: 'x'.repeat(1e6) } }, { tool_name: 'Bash' }],
      },
    ]);
    expect(facts.denied_tools).toEqual(['Write', 'Bash']);
    expect(JSON.stringify(facts.result).length).toBeLessThan(1000);
    expect(facts.response).toBe('');
  });

  it('skips events it does not know, and counts them', () => {
    const { facts, seen } = read([{ type: 'something_new', anything: [1] }, { no: 'type' }]);
    expect(facts.unknown_events).toBe(2);
    expect(seen[0]!.event).toEqual({ type: 'something_new', anything: [1] });
  });

  it(verifies('D37')('reads the end of a run whose huge result line was cut, and takes no cut line for text'), () => {
    const whole = JSON.stringify({
      type: 'result',
      subtype: 'success',
      is_error: false,
      num_turns: 3,
      result: 'x'.repeat(100_000),
    });
    const { facts, seen } = read([
      whole.slice(0, 50_000),
      '{"type":"assistant","message":{"id":"m","content":[{"type":"text","te',
    ]);
    expect(facts.result).toMatchObject({ type: 'result', subtype: 'success', is_error: false });
    expect(seen[0]!.terminal).toBe(true);
    expect(facts.lines).toEqual([]);
    expect(facts.unknown_events).toBe(1);
    // Cut before it says whether it is an error: then it says nothing.
    const early = JSON.stringify({ type: 'result', subtype: 'success', result: 'x'.repeat(1000), is_error: true });
    expect(read([early.slice(0, 500)]).facts.result).toBeNull();
  });

  it(verifies('D37')('stays small on a stream without end'), () => {
    const reader = claudeReader();
    const big = 'y'.repeat(20_000);
    for (let i = 0; i < 3000; i++) {
      reader.line('stderr', `${i} ${big}`, i);
      reader.line('stdout', JSON.stringify(says(`m${i}`, tool(`t${i}`, 'Bash', { command: big }))), i);
      reader.line(
        'stdout',
        JSON.stringify({
          type: 'assistant',
          error: 'server_error',
          message: { model: '<synthetic>', content: [{ type: 'text', text: big }] },
        }),
        i,
      );
    }
    expect(JSON.stringify(reader.facts()).length).toBeLessThan(150_000);
    expect(reader.facts()).toMatchObject({ turns: 3000, tool_calls: 3000 });
    expect(reader.facts().lines).toHaveLength(120);
  });

  it(verifies('D37')('takes NUL bytes, half surrogates and binary as they come'), () => {
    const { facts } = read([
      '\0\0\ud800binary\udfff',
      '{"type":"result","subtype":"success","is_error":false,"result":"a\\ud800b"}',
      '\uFEFF{"type":"system","subtype":"init","session_id":"s"}',
    ]);
    expect(facts.response).toBe('a\uFFFDb');
    expect(facts.lines[0]!.text.isWellFormed()).toBe(true);
    expect(facts.session_id).toBe('s');
  });
});
