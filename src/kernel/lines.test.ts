import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Line, splitLines } from './lines.ts';

const cut = (bytes: Buffer, sizes: number[], longest?: number): Line[] => {
  const splitter = splitLines(0, longest);
  const lines: Line[] = [];
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    lines.push(...splitter.push(bytes.subarray(at, at + size)));
    at = Math.min(bytes.length, at + size);
  }
  const rest = splitter.rest();
  return rest ? [...lines, rest] : lines;
};

it('gives the same lines and offsets however the bytes are cut', () => {
  const text = fc.array(fc.constantFrom('a', 'é', '😀', '\n', '\r\n', '\0', ' '), { maxLength: 60 });
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 9 })), (parts, sizes) => {
      const bytes = Buffer.from(parts.join(''));
      expect(cut(bytes, sizes)).toEqual(cut(bytes, []));
      expect(cut(bytes, sizes).reduce((n, l) => Math.max(n, l.end), 0)).toBe(bytes.length);
    }),
  );
});

it('keeps the beginning of a line that is too long, and finds the next line after it', () => {
  const lines = cut(Buffer.from(`${'x'.repeat(50)}\nnext\n`), [7, 7], 10);
  expect(lines).toEqual([
    { text: 'x'.repeat(10), end: 51, bytes: 50 },
    { text: 'next', end: 56, bytes: 4 },
  ]);
});

it('does not keep a chunk whose buffer is used again', () => {
  const splitter = splitLines();
  const buffer = Buffer.from('abc');
  splitter.push(buffer);
  buffer.fill(0x7a);
  expect(splitter.push(Buffer.from('\n'))[0]!.text).toBe('abc');
});
