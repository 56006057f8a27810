/** The readers of plain commands, Codex and Gemini CLI. */
import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import type { CliKind } from '../contract/facts.ts';
import { createReader } from './create.ts';

const read = (cli: CliKind, stdout: (string | object)[], stderr: string[] = [], textMode = false) => {
  const reader = createReader(cli, { textMode });
  const seen = stdout.map((l) => reader.line('stdout', typeof l === 'string' ? l : JSON.stringify(l), 5));
  for (const l of stderr) reader.line('stderr', l, 5);
  return { facts: reader.facts(), seen };
};

describe('the reader of any command', () => {
  it('takes stdout as the answer, whatever it looks like, and keeps the lines', () => {
    const { facts, seen } = read(
      'command',
      ['first', '', '{"type":"result","is_error":true}', 'last', ''],
      ['a warning'],
    );
    expect(facts.response).toBe('first\n\n{"type":"result","is_error":true}\nlast');
    expect(facts.result).toBeNull();
    expect(seen.some((s) => s.terminal || s.event !== null)).toBe(false);
    expect(facts.lines.map((l) => l.text)).toEqual(['first', '{"type":"result","is_error":true}', 'last', 'a warning']);
  });

  it(verifies('D37')('bounds the answer at 1 MiB and says so'), () => {
    const { facts } = read(
      'command',
      Array.from({ length: 40 }, () => 'z'.repeat(100_000)),
    );
    expect(facts.response!.length).toBeLessThan(1024 * 1024 + 100);
    expect(facts.response).toMatch(/\[cut at 1 MiB; the log of the run has the rest\]$/);
    expect(facts.bytes).toBe(40 * 100_001);
  });

  it('has no answer when nothing was printed', () => {
    expect(read('command', []).facts.response).toBeNull();
  });
});

describe('the reader of Codex', () => {
  it('takes turn.failed as the end and errors as signals', () => {
    const { facts, seen } = read('codex', [
      { type: 'thread.started', thread_id: 'th' },
      { type: 'turn.started' },
      { type: 'error', message: 'Reconnecting... 1/5 (stream closed)' },
      { type: 'item.started', item: { id: 'i1', type: 'command_execution', command: 'sleep 5' } },
      { type: 'item.completed', item: { type: 'error', message: 'a harmless warning' } },
      { type: 'error', message: 'unexpected status 401 Unauthorized: x' },
      { type: 'turn.failed', error: { message: 'unexpected status 401 Unauthorized: x' } },
    ]);
    expect(facts).toMatchObject({ session_id: 'th', turns: 1, tool_calls: 1, results_seen: 1 });
    expect(facts.signals.map((s) => [s.kind, s.model_output_after])).toEqual([
      ['codex_reconnecting', true],
      ['codex_error', false],
    ]);
    expect(seen.at(-1)!.terminal).toBe(true);
  });

  it('takes the last message as the answer, and the usage', () => {
    const { facts } = read('codex', [
      { type: 'item.completed', item: { type: 'agent_message', text: 'one' } },
      { type: 'item.completed', item: { type: 'agent_message', text: 'two' } },
      { type: 'turn.completed', usage: { input_tokens: 9, cached_input_tokens: 4, output_tokens: 2 } },
    ]);
    expect(facts).toMatchObject({
      response: 'two',
      // Codex counts the cached ones among the input; they are told apart here.
      usage: { input_tokens: 5, cache_read_tokens: 4, output_tokens: 2 },
    });
  });

  it(verifies('R30')('knows a refused tool by the log of the CLI alone, never by what a tool prints'), () => {
    const refused = [
      '2026-11-30T21:27:19.084928Z ERROR codex_core::tools::router: error=patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings',
      '2026-11-30T21:27:19.360583Z ERROR codex_core::tools::router: error=approval policy is Never; reject command — you cannot ask for escalated permissions if the approval policy is Never',
    ];
    expect(read('codex', [], refused).facts.denied_tools).toEqual(['file_change', 'command_execution']);
    const printed = { type: 'command_execution', command: 'cat log', aggregated_output: refused[0], exit_code: 0 };
    expect(read('codex', [{ type: 'item.completed', item: printed }, refused[0]!]).facts.denied_tools).toEqual([]);
    const unsupported = '2026-11-30T21:27:19.694581Z ERROR codex_core::tools::router: error=unsupported call: x';
    expect(read('codex', [], [unsupported]).facts.denied_tools).toEqual([]);
  });

  it('takes the endless wait for the network as no sign of progress, a counted try as one', () => {
    const { seen } = read('codex', [
      { type: 'error', message: 'Reconnecting... waiting for network (Connection failed: error sending request)' },
      { type: 'error', message: 'Reconnecting... 2/5 (unexpected status 500 Internal Server Error)' },
    ]);
    expect(seen.map((s) => s.heartbeat)).toEqual([true, undefined]);
  });
});

describe('the reader of Gemini CLI', () => {
  it('joins the deltas of the answer', () => {
    const { facts } = read('gemini', [
      { type: 'init', model: 'gemini-2.5-pro', session_id: 'g' },
      { type: 'message', role: 'user', content: 'hi' },
      { type: 'message', role: 'assistant', content: 'po', delta: true },
      { type: 'message', role: 'assistant', content: 'ng', delta: true },
      { type: 'result', status: 'success', stats: { input_tokens: 3, output_tokens: 1, cached: 2 } },
    ]);
    expect(facts).toMatchObject({
      response: 'pong',
      session_id: 'g',
      turns: 1,
      usage: { input_tokens: 1, cache_read_tokens: 2 },
    });
  });

  it(verifies('R30')('knows a tool that its mode took away from one that there never was'), () => {
    const call = (tool_name: string, type: string) => [
      { type: 'tool_use', tool_id: `id-${tool_name}-${type}`, tool_name, parameters: {} },
      { type: 'tool_result', tool_id: `id-${tool_name}-${type}`, status: 'error', error: { type, message: 'x' } },
    ];
    const { facts } = read('gemini', [
      ...call('write_file', 'tool_not_registered'),
      ...call('run_shell_command', 'policy_violation'),
      ...call('my_own_tool', 'tool_not_registered'),
      ...call('write_file', 'invalid_tool_params'),
    ]);
    expect(facts.denied_tools).toEqual(['write_file', 'run_shell_command']);
    expect(facts.tool_calls).toBe(4);
  });

  it(verifies('R28')('is hopeless when the CLI waits for a reset that is hours away, not for a minute'), () => {
    const reader = createReader('gemini');
    const seen = (line: string) => reader.line('stderr', line, 5);
    expect(seen('Attempt 1 failed: Quota exceeded for quota metric x.').hopeless).toBe(false);
    expect(seen('Suggested retry after 2s.. Retrying after 5951ms...').hopeless).toBe(false);
    expect(
      seen(
        'Attempt 1 failed: You have exhausted your capacity on this model. Your quota will reset after 19h59m51s.. Retrying after 76026458ms...',
      ),
    ).toMatchObject({ hopeless: true, hopelessWhy: 'the CLI waits 1267 minutes for a limit' });
    // What a tool or the model says is on stdout, in an event.
    expect(reader.line('stdout', 'x. Retrying after 76026458ms...', 5).hopeless).toBe(false);
  });

  it('reads the one object of -o json over many lines, on stderr when it failed', () => {
    const failed = JSON.stringify(
      { error: { type: 'FatalTurnLimitedError', message: 'Reached max session turns', code: 53 } },
      null,
      2,
    );
    expect(read('gemini', [], ['Loaded cached credentials.', ...failed.split('\n')]).facts.result).toMatchObject({
      status: 'error',
      error: { code: 53 },
    });
    const good = JSON.stringify({ response: 'pong', stats: {} }, null, 2);
    expect(read('gemini', good.split('\n')).facts).toMatchObject({ response: 'pong', result: { status: 'success' } });
  });
});
