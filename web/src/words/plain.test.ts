import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { below, headOf, plainText, stripAnsi } from './plain.ts';

describe('a sentence below its title', () => {
  it('does not say the title again, and keeps everything else', () => {
    expect(below('Not found', 'Not found. Install it.')).toBe('Install it.');
    expect(below('Not found', 'Not found.')).toBe('');
    expect(below('Not found', 'Not founded on facts.')).toBe('Not founded on facts.');
    expect(below('Not found', null)).toBe('');
  });
});

describe('text of agents', () => {
  it('loses colours, cursor moves, titles and hyperlinks, and keeps the words', () => {
    expect(stripAnsi('\u001b[31;1merror\u001b[0m: \u001b[2Kgone')).toBe('error: gone');
    expect(stripAnsi('\u001b]0;a title\u0007after')).toBe('after');
    expect(stripAnsi('\u001b]8;;https://x.test\u001b\\link\u001b]8;;\u001b\\!')).toBe('link!');
    expect(stripAnsi('\u009b32mgreen\u009b0m')).toBe('green');
    expect(stripAnsi('\u001b(Bplain\u001b=')).toBe('plain');
    expect(stripAnsi('cut off at \u001b[')).not.toContain('\u001b');
  });

  it('does not swallow the lines behind an unfinished sequence', () => {
    expect(stripAnsi('\u001b]0;never ended\nstill here')).toBe('\nstill here');
  });

  it(verifies('D37')('shows NUL bytes and half surrogates as what they are not able to be'), () => {
    expect(plainText('a\u0000b\ud800c')).toBe('a\ufffdb\ufffdc');
    expect(plainText('tab\tand\nline')).toBe('tab\tand\nline');
  });

  it(verifies('D37')('makes every character that turns the direction visible, and keeps right-to-left letters'), () => {
    expect(plainText('exe.\u202egnp.\u202c')).toBe('exe.⟦RLO⟧gnp.⟦PDF⟧');
    for (const c of '\u061c\u200e\u200f\u202a\u202b\u202d\u2066\u2067\u2068\u2069')
      expect(plainText(`x${c}y`)).toMatch(/^x⟦[A-Z]{3}⟧y$/);
    expect(plainText('שלום')).toBe('שלום');
  });

  it('shows a rewritten line in its last state', () => {
    expect(plainText('10%\r50%\r100%\ndone\r\nnext')).toBe('100%\ndone\nnext');
  });

  it('leaves markup alone: it is text', () => {
    expect(plainText('<img src=x onerror=alert(1)>')).toBe('<img src=x onerror=alert(1)>');
  });
});

describe('the head of a message', () => {
  it('is its first line that says something, on one line', () => {
    expect(headOf('\n\n   Fix \t the build  \nmore')).toBe('Fix the build');
    expect(headOf(null)).toBe('');
  });

  it('is cut without halving a character', () => {
    expect(headOf('aaa😀bbb', 4)).toBe('aaa…');
    expect(headOf('a'.repeat(2_000_000), 10)).toBe('aaaaaaaaaa…');
  });
});
