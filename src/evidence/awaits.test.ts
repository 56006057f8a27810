/** What a run waits for, from the events of each CLI in the shapes they were seen in. */
import { describe, expect, it } from 'vitest';
import { awaitsOf, toolKind } from './awaits.ts';
import { createReader } from './create.ts';
import type { EvidenceReader } from './reader.ts';

const tell = (reader: EvidenceReader, ...events: object[]) =>
  events.map((e) => reader.line('stdout', JSON.stringify(e), null));

const call = (id: string, name: string, parent: string | null = null) => ({
  type: 'assistant',
  parent_tool_use_id: parent,
  message: { id: 'm1', model: 'claude-sonnet-4-5', content: [{ type: 'tool_use', id, name, input: {} }] },
});
const answer = (id: string, parent: string | null = null) => ({
  type: 'user',
  parent_tool_use_id: parent,
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }] },
});

describe('what claude waits for', () => {
  it('is its first event, then the model, then the tool it called, then nothing', () => {
    const reader = createReader('claude');
    expect(reader.awaits()).toEqual({ kind: 'start', tool: null });
    reader.line('stderr', 'a warning', null);
    expect(reader.awaits()?.kind).toBe('start');
    tell(reader, { type: 'system', subtype: 'init' });
    expect(reader.awaits()).toEqual({ kind: 'model', tool: null });
    tell(reader, call('t1', 'mcp__docs__search'));
    expect(reader.awaits()).toEqual({ kind: 'mcp', tool: 'mcp__docs__search' });
    tell(reader, answer('t1'));
    expect(reader.awaits()).toEqual({ kind: 'model', tool: null });
    tell(reader, { type: 'result', subtype: 'success', is_error: false, result: 'done' });
    expect(reader.awaits()).toBeNull();
  });

  it('is the most patient of the calls that are open', () => {
    const reader = createReader('claude');
    tell(reader, call('t1', 'Read'), call('t2', 'Bash'), call('t3', 'WebFetch'));
    expect(reader.awaits()).toEqual({ kind: 'shell', tool: 'Bash' });
    tell(reader, answer('t2'));
    expect(reader.awaits()?.kind).toMatch(/web|tool/);
  });

  it('names the tool inside a sub-agent, and never gives it less time than the model', () => {
    const reader = createReader('claude');
    tell(reader, call('t1', 'Task'));
    expect(reader.awaits()).toEqual({ kind: 'subagent', tool: 'Task' });
    tell(reader, call('i1', 'mcp__docs__search', 't1'));
    expect(reader.awaits()).toEqual({ kind: 'mcp', tool: 'mcp__docs__search' });
    tell(reader, answer('i1', 't1'), call('i2', 'Read', 't1'));
    expect(reader.awaits()).toEqual({ kind: 'model', tool: 'Read' });
    // The sub-agent was ended from outside: its open call goes with it.
    tell(reader, answer('t1'));
    expect(reader.awaits()).toEqual({ kind: 'model', tool: null });
    expect(reader.facts().tool_calls).toBe(1);
  });

  it('is not changed by a heartbeat, which is told as one; a retry inside a sub-agent is a sign', () => {
    const reader = createReader('claude');
    const [, beat, retry] = tell(
      reader,
      call('t1', 'Bash'),
      { type: 'tool_progress', tool_use_id: 't1-heartbeat-0', tool_name: 'Bash', heartbeat: true },
      { type: 'tool_progress', tool_use_id: 't1', tool_name: 'Task', subagent_retry: { attempt: 1 } },
    );
    expect(beat?.heartbeat).toBe(true);
    expect(retry?.heartbeat).toBeUndefined();
    expect(reader.awaits()).toEqual({ kind: 'shell', tool: 'Bash' });
  });
});

describe('what the others wait for', () => {
  it('codex: items, by their type; the tool of a server by its name', () => {
    const reader = createReader('codex');
    expect(reader.awaits()?.kind).toBe('start');
    tell(reader, { type: 'thread.started', thread_id: 't' }, { type: 'turn.started' });
    expect(reader.awaits()?.kind).toBe('model');
    tell(reader, { type: 'item.started', item: { id: 'i1', type: 'command_execution', command: 'make' } });
    expect(reader.awaits()).toEqual({ kind: 'shell', tool: 'command_execution' });
    tell(reader, { type: 'item.completed', item: { id: 'i1', type: 'command_execution', command: 'make' } });
    tell(reader, { type: 'item.started', item: { id: 'i2', type: 'mcp_tool_call', server: 'docs', tool: 'search' } });
    expect(reader.awaits()).toEqual({ kind: 'mcp', tool: 'mcp_tool_call search' });
    tell(reader, { type: 'turn.failed', error: { message: 'no' } });
    expect(reader.awaits()).toBeNull();
  });

  it('gemini: tool_use until its tool_result', () => {
    const reader = createReader('gemini');
    tell(reader, { type: 'init', session_id: 's' });
    expect(reader.awaits()?.kind).toBe('model');
    tell(reader, { type: 'tool_use', tool_id: 'g1', tool_name: 'run_shell_command', parameters: {} });
    expect(reader.awaits()).toEqual({ kind: 'shell', tool: 'run_shell_command' });
    tell(reader, { type: 'tool_result', tool_id: 'g1', status: 'success' });
    expect(reader.awaits()?.kind).toBe('model');
    tell(reader, { type: 'result', status: 'success' });
    expect(reader.awaits()).toBeNull();
  });

  it('a program with plain output: a line', () => {
    const reader = createReader('command');
    reader.line('stdout', 'working', null);
    expect(reader.awaits()).toEqual({ kind: 'output', tool: null });
  });
});

describe('a tool', () => {
  it('whose name no CLI owns belongs to a server of somebody else', () => {
    expect(['Bash', 'WebSearch', 'Task', 'Read', 'mcp__a__b', 'constructor'].map(toolKind)).toEqual([
      'shell',
      'web',
      'subagent',
      'tool',
      'mcp',
      'mcp',
    ]);
    expect(awaitsOf([{ name: 'toString', input: null, since: null }])).toEqual({ kind: 'mcp', tool: 'toString' });
  });
});
