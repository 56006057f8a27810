import { describe, expect, it } from 'vitest';
import { age, bytes, dollars, duration } from './durations.ts';

describe('amounts for people', () => {
  it('writes durations from milliseconds to days, and never invents one', () => {
    expect([null, undefined, 0, 12, 1000, 1234, 59_960, 61_000, 3_600_000, 90_000_000].map(duration)).toEqual([
      '–',
      '–',
      '0 ms',
      '12 ms',
      '1 s',
      '1.2 s',
      '1 min 0 s',
      '1 min 1 s',
      '1 h 0 min',
      '1 d 1 h',
    ]);
  });

  it('shows no negative age when a clock is behind, and none for what never was', () => {
    const now = Date.parse('2026-11-30T12:00:00Z');
    expect(age('2026-11-30T11:59:50Z', now)).toBe('10 s');
    expect(age('2026-11-30T12:00:10Z', now)).toBe('0 ms');
    expect([age(null, now), age('not a time', now)]).toEqual(['–', '–']);
  });

  it('keeps small costs readable and tells nothing apart from zero', () => {
    expect([null, 0, 0.0012, 0.0123, 0.5, 12].map(dollars)).toEqual([
      '–',
      '$0.00',
      '$0.0012',
      '$0.01',
      '$0.50',
      '$12.00',
    ]);
  });

  it('writes sizes in powers of 1024', () => {
    expect([null, 12, 384 * 1024 ** 2, 1.5 * 1024 ** 3].map(bytes)).toEqual(['–', '12 B', '384 MiB', '1.5 GiB']);
  });
});
