import { describe, expect, it } from 'vitest';
import { type Block, createFold, inputLine } from './fold.ts';

const fold = (...entries: Record<string, unknown>[]): readonly Block[] => {
  const f = createFold();
  for (const entry of entries) f.push(entry);
  return f.blocks();
};
const assistant = (...content: unknown[]) => ({ type: 'assistant', message: { role: 'assistant', content } });
const toolResult = (id: string, content: unknown, is_error = false) => ({
  type: 'user',
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content, is_error }] },
});

describe('the transcript', () => {
  it('folds the result of a tool into its call, also when others came between', () => {
    const blocks = fold(
      assistant({ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'make\nmake test' } }),
      assistant({ type: 'tool_use', id: 't2', name: 'Read', input: { file_path: '/a' } }),
      toolResult('t2', [{ type: 'text', text: 'hello' }, { type: 'image' }]),
      toolResult('t1', 'exit 2', true),
    );
    expect(blocks).toHaveLength(2);
    expect(blocks[0]).toMatchObject({ kind: 'tool', name: 'Bash', input: 'make', result: 'exit 2', failed: true });
    expect(blocks[1]).toMatchObject({
      kind: 'tool',
      name: 'Read',
      input: '/a',
      result: 'hello\n[image]',
      failed: false,
    });
  });

  it('replaces a block when its result comes and leaves lists already handed out as they were', () => {
    const f = createFold();
    f.push(assistant({ type: 'tool_use', id: 't1', name: 'Bash', input: {} }));
    const before = f.blocks();
    f.push(toolResult('t1', 'ok'));
    const after = f.blocks();
    expect(before[0]).toMatchObject({ result: null });
    expect(after[0]).toMatchObject({ result: 'ok', id: before[0]!.id });
    expect(after).not.toBe(before);
  });

  it('keeps what is said, thought and asked apart, and passes over pieces of a stream', () => {
    const blocks = fold(
      { type: 'system', subtype: 'init', model: 'opus', permissionMode: 'acceptEdits' },
      { type: 'stream_event', event: undefined },
      assistant({ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'Done.' }, { type: 'text', text: '  ' }),
      { type: 'user', message: { role: 'user', content: 'go on' } },
    );
    expect(blocks.map((b) => [b.kind, 'text' in b ? b.text : ''])).toEqual([
      ['note', 'opus · acceptEdits'],
      ['thought', 'hm'],
      ['said', 'Done.'],
      ['said', 'go on'],
    ]);
  });

  it('never shows a result that is an error as a success, whatever its subtype says', () => {
    expect(fold({ type: 'result', subtype: 'success', is_error: true, result: 'Invalid API key' })[0]).toMatchObject({
      kind: 'result',
      ok: false,
      text: 'Invalid API key',
    });
    expect(fold({ type: 'result', subtype: 'success', is_error: false, result: 'fine' })[0]).toMatchObject({
      ok: true,
    });
    expect(fold({ type: 'result', subtype: 'error_max_turns' })[0]).toMatchObject({ ok: false });
  });

  it('joins lines of one stream, and keeps stderr apart', () => {
    const line = (stream: string, text: string) => ({ at: 5, stream, event: null, text });
    expect(
      fold(line('stdout', 'a'), line('stdout', 'b'), line('stderr', 'c')).map((b) => [
        b.kind,
        b.at,
        'text' in b && b.text,
      ]),
    ).toEqual([
      ['output', 5, 'a\nb'],
      ['output', 5, 'c'],
    ]);
  });

  it('reads stored entries and bare events alike', () => {
    const bare = assistant({ type: 'text', text: 'x' });
    expect(fold({ at: 1, stream: 'stdout', event: bare, text: null })[0]).toMatchObject({
      kind: 'said',
      text: 'x',
      at: 1,
    });
    expect(fold(bare)[0]).toMatchObject({ kind: 'said', text: 'x', at: null });
  });

  it('hides nothing: an unknown event is a note, an orphan result too', () => {
    expect(fold({ type: 'brand_new', n: 1 })[0]).toMatchObject({ kind: 'note', title: 'brand new' });
    expect(fold(toolResult('gone', 'late'))[0]).toMatchObject({ kind: 'note', text: 'late' });
    expect(fold(assistant('odd', null, { type: 'hologram' }))).toHaveLength(1);
  });

  it('cuts a text that would freeze a page, and says so', () => {
    const [block] = fold(assistant({ type: 'text', text: 'x'.repeat(2_000_000) }));
    expect((block as { text: string }).text.length).toBeLessThan(101_000);
    expect((block as { text: string }).text).toContain('1900000 more characters');
  });

  it('keeps the newest blocks of a long log, counts the others, and still folds results into their calls', () => {
    const f = createFold(10);
    for (let i = 0; i < 100; i++) f.push(assistant({ type: 'text', text: `${i}` }));
    f.push(assistant({ type: 'tool_use', id: 't', name: 'Bash', input: {} }));
    f.push(toolResult('t', 'ok'));
    const blocks = f.blocks();
    expect(blocks.length).toBeLessThanOrEqual(11);
    expect(blocks.length + f.dropped).toBe(101);
    expect(blocks.at(-1)).toMatchObject({ kind: 'tool', result: 'ok' });
  });

  it('names the telling argument of a call', () => {
    expect(inputLine({ timeout: 5, command: '  ls -la\n' })).toBe('ls -la');
    expect(inputLine({ a: 1 })).toBe('{"a":1}');
    expect(inputLine({})).toBe('');
    expect(inputLine(7)).toBe('');
  });
});
