import { expect, it } from 'vitest';
import { hashedBackoff } from './backoff.ts';

it('doubles up to its bound, and lies between half of that and all of it', () => {
  for (let attempt = 1; attempt <= 12; attempt++) {
    const whole = Math.min(300_000, 5_000 * 2 ** (attempt - 1));
    const ms = hashedBackoff('01m8r355sx3bh8ycjhnppa6yey', attempt);
    expect(ms).toBeGreaterThanOrEqual(whole / 2);
    expect(ms).toBeLessThanOrEqual(whole);
  }
});

it('is the same for an id on replay, and evenly spread over ids that follow each other', () => {
  const all = Array.from({ length: 1_000 }, (_, n) => hashedBackoff(`01m8r355sx3bh8ycjhnppa6${n}`, 1, 20_000, 20_000));
  expect(all[7]).toBe(hashedBackoff('01m8r355sx3bh8ycjhnppa67', 1, 20_000, 20_000));
  const tenths = Array<number>(10).fill(0);
  for (const ms of all) tenths[Math.min(9, Math.floor((ms - 10_000) / 1_000))]!++;
  expect(Math.min(...tenths)).toBeGreaterThan(70);
  expect(Math.max(...tenths)).toBeLessThan(130);
});
