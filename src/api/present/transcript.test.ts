import { describe, expect, it } from 'vitest';
import { anExecution } from '../../../test/support/rows.ts';
import type { ExecutionStatus } from '../../contract/execution.ts';
import { activityOf, toolActivityOf } from './activity.ts';
import { presentEntry, toolCallsOf } from './transcript.ts';

const stored = (event: unknown, at = 1_760_000_000_000) => JSON.stringify({ at, stream: 'stdout', event, text: null });
const use = (id: string, name: string, input: unknown) => ({
  type: 'assistant',
  message: { content: [{ type: 'tool_use', id, name, input }] },
});
const result = (id: string, content: unknown, is_error = false) => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id: id, content, is_error }] },
});

describe('a log entry', () => {
  it('is the event of the CLI with its time', () => {
    expect(presentEntry(stored({ type: 'system', subtype: 'init' }))).toEqual({
      type: 'system',
      subtype: 'init',
      timestamp: '2025-10-09T08:53:20.000Z',
    });
    expect(presentEntry(stored({ type: 'x', timestamp: 'its own' })).timestamp).toBe('its own');
  });

  it('is an output when the line was no event', () => {
    expect(presentEntry(JSON.stringify({ at: 0, stream: 'stderr', event: null, text: 'oh no' }))).toEqual({
      type: 'output',
      stream: 'stderr',
      text: 'oh no',
      timestamp: '1970-01-01T00:00:00.000Z',
    });
  });

  it('never fails to open: what is not an entry is shown as it was stored', () => {
    for (const odd of ['not json', '[]', '{"at":"yesterday"}'])
      expect(presentEntry(odd)).toEqual({ type: 'output', stream: 'drover', text: odd });
  });
});

describe('the tool calls of a transcript', () => {
  const entries = [
    stored(use('t1', 'Bash', { command: 'ls' })),
    stored(result('t1', 'a.txt'), 1_760_000_001_000),
    stored(use('t2', 'Edit', { file_path: 'a.txt' }), 1_760_000_002_000),
    stored(result('t2', [{ type: 'text', text: 'no such file' }], true), 1_760_000_003_000),
    stored(use('t3', 'Read', {}), 1_760_000_004_000),
    stored(result('t9', 'of nobody')),
    JSON.stringify({ at: 0, stream: 'stdout', event: null, text: 'noise' }),
  ].map(presentEntry);

  it('are paired with their results, and the open one stays open', () => {
    expect(toolCallsOf(entries)).toMatchObject([
      { id: 't1', tool: 'Bash', success: true, output: 'a.txt', ended_at: '2025-10-09T08:53:21.000Z' },
      { id: 't2', tool: 'Edit', success: false, output: 'no such file' },
      { id: 't3', tool: 'Read', success: null, output: null, ended_at: null },
    ]);
  });

  it('cut what is too long to show, without cutting a character in two', () => {
    const [call] = toolCallsOf([
      presentEntry(stored(use('t', 'Write', { content: 'x'.repeat(10_000) }))),
      presentEntry(stored(result('t', `${'y'.repeat(1_999)}\u{1f600}`))),
    ]);
    expect((call!.input as string).length).toBeLessThan(5_000);
    expect(call!.output).toHaveLength(2_000);
    expect(call!.output!.isWellFormed()).toBe(true);
  });
});

describe('an activity', () => {
  it('has its type by what asked for it', () => {
    const type = (over: Parameters<typeof anExecution>[0]) => activityOf(anExecution(over)).activity_type;
    expect(type({ kind: 'chat' })).toBe('chat_start');
    expect(type({ kind: 'task' })).toBe('task_start');
    expect(type({ kind: 'task', triggered_by: 'schedule' })).toBe('schedule_start');
    expect(type({ kind: 'chat', triggered_by: 'agent' })).toBe('agent_collaboration');
  });

  it('has its state by the status of the row', () => {
    const state = (status: ExecutionStatus) => activityOf(anExecution({ status })).activity_state;
    expect((['queued', 'running', 'waiting'] as const).map(state)).toEqual(['started', 'started', 'started']);
    expect((['success', 'failed', 'cancelled'] as const).map(state)).toEqual(['completed', 'failed', 'failed']);
  });

  it('of a tool call that never answered failed with its run, and is going on while the run is', () => {
    const call = { id: 't', tool: 'Bash', input: {}, started_at: null, ended_at: null, success: null, output: null };
    expect(toolActivityOf(anExecution(), call).activity_state).toBe('started');
    expect(toolActivityOf(anExecution({ status: 'failed', completed_at: 2 }), call).activity_state).toBe('failed');
  });
});
