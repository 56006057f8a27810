import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { linesOf } from './transcript.ts';

const assistant = (content: unknown[], more: object = {}) => ({ type: 'assistant', message: { content }, ...more });

describe('a transcript for people', () => {
  it('shows the text of the agent and each tool call on one line', () => {
    expect(
      linesOf(
        assistant([
          { type: 'text', text: 'I look.\n' },
          { type: 'tool_use', id: 't', name: 'Bash', input: { description: 'list', command: 'ls\n -l   /tmp' } },
        ]),
      ),
    ).toEqual([
      { kind: 'text', text: 'I look.' },
      { kind: 'tool', text: 'Bash ls -l /tmp' },
    ]);
  });

  it('cuts a tool call that would fill the screen', () => {
    const [line] = linesOf(
      assistant([{ type: 'tool_use', id: 't', name: 'Write', input: { content: 'x'.repeat(5000) } }]),
    );
    expect(line!.text).toHaveLength(160);
    expect(line!.text.endsWith('…')).toBe(true);
  });

  it('shows a tool that failed, and nothing of one that worked', () => {
    const answer = (is_error: boolean) => ({
      type: 'user',
      message: {
        content: [
          { type: 'tool_result', tool_use_id: 't', is_error, content: [{ type: 'text', text: 'no such file' }] },
        ],
      },
    });
    expect(linesOf(answer(true))).toEqual([{ kind: 'trouble', text: 'the tool failed: no such file' }]);
    expect(linesOf(answer(false))).toEqual([]);
  });

  it('keeps what a subagent says behind the tool line that started it', () => {
    expect(linesOf(assistant([{ type: 'text', text: 'inner' }], { parent_tool_use_id: 'toolu_1' }))).toEqual([]);
  });

  it('says which try it is when the provider refuses, and when a limit resets', () => {
    expect(
      linesOf({
        type: 'system',
        subtype: 'api_retry',
        attempt: 2,
        max_retries: 10,
        error_status: 529,
        error: 'overloaded',
      }),
    ).toEqual([{ kind: 'note', text: 'the provider refused (529 overloaded); try 2 of 10' }]);
    expect(
      linesOf({
        type: 'rate_limit_event',
        rate_limit_info: { status: 'rejected', rateLimitType: 'five_hour', resetsAt: 1_796_070_472 },
      }),
    ).toEqual([{ kind: 'trouble', text: 'limit: five_hour, resets 2026-11-30T20:27:52.000Z' }]);
    expect(linesOf({ type: 'rate_limit_event', rate_limit_info: { status: 'allowed' } })).toEqual([]);
  });

  it('shows plain lines by their stream', () => {
    expect(linesOf({ type: 'output', stream: 'stdout', text: 'hi\n' })).toEqual([{ kind: 'text', text: 'hi' }]);
    expect(linesOf({ type: 'output', stream: 'stderr', text: 'oh' })).toEqual([{ kind: 'trouble', text: 'oh' }]);
    expect(linesOf({ type: 'output', stream: 'drover', text: 'stopping' })).toEqual([
      { kind: 'note', text: 'stopping' },
    ]);
    expect(linesOf({ type: 'output', stream: 'stdout', text: '\n' })).toEqual([]);
  });

  it(verifies('D37')('lets no control sequence through to the terminal'), () => {
    const nasty = 'a\u001b[31mred\u001b[0m\u001b]0;title\u0007b\u0000c\u202ed\u009be';
    expect(linesOf(assistant([{ type: 'text', text: nasty }]))[0]!.text).toBe('aredb\ufffdc\ufffdd\ufffde');
    expect(linesOf({ type: 'output', stream: 'stdout', text: nasty })[0]!.text).not.toMatch(
      /[\u0000\u001b\u202e\u009b]/,
    );
  });

  it('passes over what it does not know and what is no object', () => {
    for (const odd of [
      {},
      { type: 'new_thing' },
      { type: 'assistant' },
      { type: 'assistant', message: { content: 'x' } },
      { type: 'user', message: null },
    ])
      expect(linesOf(odd as Record<string, unknown>)).toEqual([]);
  });
});
