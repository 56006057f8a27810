import { describe, expect, it } from 'vitest';
import { ago, bytes, clockTime, cost, count, exactTime, lasted, msOf, plural, span } from './times.ts';

describe('times in words', () => {
  it('gives two units at most and never rounds up', () => {
    expect([0, 999, 59_999, 125_000, 3_599_999, 4_020_000, 273_600_000].map(span)).toEqual([
      '0s',
      '0s',
      '59s',
      '2m 05s',
      '59m 59s',
      '1h 07m',
      '3d 4h',
    ]);
  });

  it('shows what was not measured as a dash, and a clock that is a little ahead as zero', () => {
    expect(span(null)).toBe('–');
    expect(span(Number.NaN)).toBe('–');
    expect(span(-1500)).toBe('0s');
    expect(ago(2_000, 1_000)).toBe('now');
    expect(ago(null, 1)).toBe('–');
    expect(msOf('nonsense')).toBeNull();
    expect(msOf(undefined)).toBeNull();
  });

  it('is finer for short runs', () => {
    expect([40, 1_250, 9_999, 10_000].map(lasted)).toEqual(['0.0s', '1.2s', '9.9s', '10s']);
  });

  it('counts back in one unit', () => {
    const now = 10 * 86_400_000;
    expect([0, 12_000, 240_000, 10_800_000, 2 * 86_400_000].map((t) => ago(now - t, now))).toEqual([
      'now',
      '12s ago',
      '4m ago',
      '3h ago',
      '2d ago',
    ]);
  });

  it('names the day only when it is another one', () => {
    const noon = new Date(2026, 10, 30, 12, 0, 5).getTime();
    expect(clockTime(noon, noon + 60_000)).toBe('12:00:05');
    expect(clockTime(noon, noon + 86_400_000)).toBe('2026-11-30 12:00:05');
  });

  it('writes a moment in the zone that was chosen, its day too', () => {
    const at = Date.UTC(2026, 10, 30, 23, 30, 0);
    expect(clockTime(at, at, 'UTC')).toBe('23:30:00');
    expect(clockTime(at, at - 1_200_000, 'Europe/Berlin')).toBe('00:30:00');
    expect(clockTime(at, at - 2 * 3_600_000, 'Europe/Berlin')).toBe('2026-12-01 00:30:00');
    expect(exactTime(at, 'Asia/Tokyo')).toBe('2026-12-01 08:30:00 Asia/Tokyo');
    expect(exactTime(null, 'UTC')).toBe('not known');
  });
});

describe('sizes and money in words', () => {
  it('uses binary units', () => {
    expect([0, 1023, 1536, 384 * 1024 ** 2, 2.5 * 1024 ** 3].map(bytes)).toEqual([
      '0 B',
      '1023 B',
      '1.5 KiB',
      '384 MiB',
      '2.5 GiB',
    ]);
    expect(bytes(null)).toBe('–');
  });

  it('never shows notional or estimated dollars as billed ones', () => {
    expect(cost(0.1234, 'billed')).toBe('$0.12');
    expect(cost(0.0012, 'billed')).toBe('$0.0012');
    expect(cost(1, 'notional')).toBe('$1.00 notional');
    expect(cost(1, 'unknown')).toBe('≈ $1.00');
    expect(cost(null)).toBe('–');
    expect(cost(0)).toBe('$0.00');
  });

  it('shortens large counts', () => {
    expect([7, 1234, 12_345, 2_300_000].map(count)).toEqual(['7', '1,234', '12.3k', '2.3M']);
    expect([plural(1, 'agent'), plural(2, 'agent'), plural(0, 'entry', 'entries')]).toEqual([
      '1 agent',
      '2 agents',
      '0 entries',
    ]);
  });
});
