import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { cleanText, cleanTexts } from './text.ts';

describe('texts that are handed in', () => {
  it(verifies('D37')('turns NUL and half surrogates into U+FFFD and keeps everything else'), () => {
    expect(cleanText('a\0b\ud800c\udc00')).toBe('a\ufffdb\ufffdc\ufffd');
    const kept = '\u202eright to left\u202c \u001b[31mred\u001b[0m \u{1f600} \r\n\t';
    expect(cleanText(kept)).toBe(kept);
  });

  it('cleans every string of a value, keys too, and changes nothing else', () => {
    const value = { 'k\0': ['x\ud800', 1, null, true, { deep: 'y\0' }] };
    expect(cleanTexts(value)).toEqual({ 'k\ufffd': ['x\ufffd', 1, null, true, { deep: 'y\ufffd' }] });
    expect(value).toEqual({ 'k\0': ['x\ud800', 1, null, true, { deep: 'y\0' }] });
  });
});
