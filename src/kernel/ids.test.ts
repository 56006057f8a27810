import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { derivedId, systemRandom, timeOrderedIds } from './ids.ts';

const hour = 3_600_000;
const now = Date.parse('2026-12-01T12:00:00Z');

describe('ids', () => {
  it(verifies('R8')('sort in the order they were made, whatever the wall clock does'), () => {
    const ids = timeOrderedIds(systemRandom);
    const made = [0, 0, 1, -hour, -hour, 2, hour, 0].map((by) => ids.next(now + by));
    expect(made.toSorted()).toEqual(made);
    expect(new Set(made.map((id) => id.length))).toEqual(new Set([26]));
    expect(new Set(made).size).toBe(made.length);
  });

  it(
    verifies('R8')('of a next process sort after the last one’s, also with the clock set back an hour between them'),
    () => {
      const before = timeOrderedIds(systemRandom);
      const made = Array.from({ length: 50 }, () => before.next(now));
      const after = timeOrderedIds(systemRandom, made.at(-1));
      made.push(...Array.from({ length: 50 }, () => after.next(now - hour)), after.next(now + hour));
      expect(made.toSorted()).toEqual(made);
    },
  );

  it('of what follows from another are the same when they are made again', () => {
    const from = timeOrderedIds(systemRandom).next(now);
    expect(derivedId(now + 5, from)).toBe(derivedId(now + 5, from));
    expect(derivedId(now + 5, from) > from).toBe(true);
  });
});
