import fc from 'fast-check';
import { expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { hideMarked, markOf } from './marks.ts';

it(verifies('R45')('a mark hides its secret wherever it stands, and nothing else'), () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 8, maxLength: 40, unit: 'binary' }),
      fc.array(fc.string({ maxLength: 60, unit: 'binary' }), { maxLength: 6 }),
      (secret, parts) => {
        const text = parts.join(secret);
        expect(hideMarked(text, markOf(secret, 'salt'), '#')).toBe(text.replaceAll(secret, '#'));
      },
    ),
  );
});

it('two letters, many repeats: a window is never skipped', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 8, maxLength: 9, unit: fc.constantFrom('a', 'b') }), (secret) => {
      const text = 'ab'.repeat(30) + secret + 'aab'.repeat(30);
      expect(hideMarked(text, markOf(secret, 's'), '#')).toBe(text.replaceAll(secret, '#'));
    }),
  );
});

it(verifies('R45')('a mark does not hold what it hides'), () => {
  const mark = markOf('lent-value-1', 'att-1');
  expect(JSON.stringify(mark)).not.toContain('lent');
  expect(markOf('lent-value-1', 'att-2').hash).not.toBe(mark.hash);
});
