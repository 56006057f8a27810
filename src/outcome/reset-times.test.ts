/** Reset times in every form the CLIs print, with zones, changes of time and what must stay unknown. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { resetFromText } from './reset-times.ts';

const now = Date.UTC(2026, 10, 30, 18, 0);
const at = (text: string, zone = 'UTC') => {
  const ms = resetFromText(text, { now, zone });
  return ms === null ? null : new Date(ms).toISOString().slice(0, 16);
};

describe('resetFromText', () => {
  const known: [string, string | null][] = [
    ['Claude AI usage limit reached|1749924000', '2025-06-14T18:00'],
    ['Claude usage limit reached. Your limit will reset at 9am (America/Chicago).', '2026-12-01T15:00'],
    ['5-hour limit reached ∙ resets 1am', '2026-12-01T01:00'],
    ["You've hit your session limit · resets 8:53pm (UTC)", '2026-11-30T20:53'],
    ['You’ve hit your session limit · resets 4:10am (America/Sao_Paulo)', '2026-12-01T07:10'],
    ["You've hit your limit · resets Jul 18, 12pm (UTC)", '2026-07-18T12:00'],
    ["You've hit your weekly limit · resets Jan 3, 5am (UTC)", '2027-01-03T05:00'],
    ["You've hit your Opus limit · resets Dec 4, 2026, 9am (Asia/Seoul)", '2026-12-04T00:00'],
    ["You've hit your usage limit. Upgrade to Pro or try again at 7:32 PM.", '2026-11-30T19:32'],
    ["You've hit your usage limit. Try again at Apr 28th, 2026 10:03 PM.", '2026-04-28T22:03'],
    ["You've hit your usage limit. Please try again in 3 days 4 hours 12 minutes.", '2026-12-03T22:12'],
    ['Your quota will reset after 19h59m51s.', '2026-12-01T13:59'],
    ['Please retry in 36.4s', '2026-11-30T18:00'],
    ['Quota exceeded for quota metric x.\nSuggested retry after 400s.', '2026-11-30T18:06'],
    ['You will regain access on 2026-12-01 at 00:00 UTC', '2026-12-01T00:00'],
    // A clock time without a date says nothing about a weekly window.
    ['Weekly limit reached · resets 10am (Asia/Seoul) · /upgrade to Max or turn on /extra-usage', null],
    ["You've hit your Sonnet limit · resets 8:27pm (UTC)", null],
    ["You've hit your monthly spend limit", null],
    ['resets 25:00 (UTC)', null],
    ['resets 3pm (Mars/Olympus)', null],
    ['resets Foo 3, 3pm (UTC)', null],
    ['resets soon', null],
  ];
  it.each(known)(verifies('R38')('"%s" is %s'), (text, want) => {
    expect(at(text)).toBe(want);
  });

  it('takes a clock time without a zone as the clock of the host, over a change of time too', () => {
    expect(at('5-hour limit reached ∙ resets 1am', 'Europe/Vienna')).toBe('2026-12-01T00:00');
    // 29 March 2026, 02:00 does not exist in Vienna; 03:30 is 01:30 UTC.
    const before = Date.UTC(2026, 2, 28, 22, 0);
    expect(resetFromText('resets 3:30am', { now: before, zone: 'Europe/Vienna' })).toBe(Date.UTC(2026, 2, 29, 1, 30));
  });

  it('a clock time lies in the next 24 hours (25 when the clocks change)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 0, max: 59 }),
        fc.constantFrom('am', 'pm'),
        fc.constantFrom('UTC', 'Asia/Seoul', 'America/Anchorage', 'Australia/Lord_Howe'),
        fc.integer({ min: 0, max: 400 }),
        (h, m, half, zone, day) => {
          const then = now + day * 86_400_000;
          const reset = resetFromText(`resets ${h}:${String(m).padStart(2, '0')}${half} (${zone})`, {
            now: then,
            zone: 'UTC',
          })!;
          expect(reset).toBeGreaterThan(then);
          expect(reset - then).toBeLessThanOrEqual(25 * 3_600_000);
        },
      ),
    );
  });

  it('without a clock it knows only what carries a date', () => {
    expect(resetFromText('resets 1am', { now: null, zone: 'UTC' })).toBeNull();
    expect(resetFromText('limit reached|1749924000', { now: null, zone: 'UTC' })).toBe(1_749_924_000_000);
  });
});
