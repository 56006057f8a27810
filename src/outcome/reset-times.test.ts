/** Reset times in every form the CLIs print, with zones, changes of time and what must stay unknown. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { zoneOfTz } from './printed-zones.ts';
import { plausibleReset, resetFromText } from './reset-times.ts';

const now = Date.UTC(2026, 10, 30, 18, 0);
const at = (text: string, zone: string | null = 'UTC', from = now) => {
  const ms = resetFromText(text, { now: from, zone });
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
          // The minute that runs now counts as ahead.
          expect(reset).toBeGreaterThan(then - 60_000);
          expect(reset - then).toBeLessThanOrEqual(25 * 3_600_000);
        },
      ),
    );
  });

  const today: [string, string | null][] = [
    // Every way to write the time.
    ['resets 8:53 PM (UTC)', '2026-11-30T20:53'],
    ['Access resets at 11:00\u202fPM UTC.', '2026-11-30T23:00'],
    ['resets at 8 p.m. (UTC)', '2026-11-30T20:00'],
    ['resets 12am (UTC)', '2026-12-01T00:00'],
    ['resets 12pm (UTC)', '2026-12-01T12:00'],
    ['resets 12:30 am (UTC)', '2026-12-01T00:30'],
    ['resets 20:53', '2026-11-30T20:53'],
    ['resets 20:53:07 (UTC)', '2026-11-30T20:53'],
    ['resets 0:05', '2026-12-01T00:05'],
    ['resets 0am', null],
    ['resets 13pm', null],
    ['resets 8', null],
    ['resets 8:60pm', null],
    ['resets 24:00', null],
    // Spans.
    ['Please try again in 3h', '2026-11-30T21:00'],
    ['try again in 1 day, 2 hours and 5 minutes', '2026-12-01T20:05'],
    ['resets in 2d 3h', '2026-12-02T21:00'],
    ['Retry after 90 seconds', '2026-11-30T18:01'],
    ['try again in 250ms', '2026-11-30T18:00'],
    ['try again in a while', null],
    ['try again in 99999999999999999999 days', null],
    // Days.
    ['resets tomorrow at 9am (UTC)', '2026-12-01T09:00'],
    ['resets today at 9pm (UTC)', '2026-11-30T21:00'],
    // 30 November 2026 is a Monday.
    ['Weekly limit reached · resets Thu 10:00 AM (UTC)', '2026-12-03T10:00'],
    ['resets Mon 5pm (UTC)', '2026-12-07T17:00'],
    ['resets Mon 7pm (UTC)', '2026-11-30T19:00'],
    ['resets Monday 2:00 AM (Asia/Tokyo)', '2026-12-06T17:00'],
    ["You've hit your weekly limit · resets Feb 29, 9am (UTC)", null],
    ['resets Feb 30, 9am (UTC)', null],
    ['resets Feb 29, 2028, 9am (UTC)', '2028-02-29T09:00'],
    ['resets Nov 31, 2026, 9am (UTC)', null],
    // As ISO writes them.
    ['Your quota resets at 2026-12-01T09:30:00Z.', '2026-12-01T09:30'],
    ['resets at 2026-12-01T09:30:00.123+09:00', '2026-12-01T00:30'],
    ['resets on 2026-12-01 09:30 (Asia/Kolkata)', '2026-12-01T04:00'],
    ['You will regain access on 2026-12-01', '2026-12-01T00:00'],
    ['resets at 2026-13-01T09:30:00Z', null],
    ['resets at 2026-02-30T09:30:00Z', null],
    // What nobody can have meant.
    ['limit reached|9999999999999', null],
    ['resets Jan 1, 9999, 5am (UTC)', null],
  ];
  it.each(today)(verifies('R38')('"%s" is %s'), (text, want) => {
    expect(at(text)).toBe(want);
  });

  const zones: [string, string | null][] = [
    ['America/Argentina/Buenos_Aires', '2026-12-01T00:00'],
    ['America/North_Dakota/New_Salem', '2026-12-01T03:00'],
    ['America/Port-au-Prince', '2026-12-01T02:00'],
    ['Asia/Kathmandu', '2026-12-01T15:15'],
    ['Australia/Eucla', '2026-12-01T12:15'],
    // Either side of the date line: 18:00 UTC is 08:00 on the 1st, and 07:00 on the 30th.
    ['Pacific/Kiritimati', '2026-12-01T07:00'],
    ['Pacific/Pago_Pago', '2026-12-01T08:00'],
    ['Pacific/Chatham', '2026-12-01T07:15'],
    ['Etc/GMT+5', '2026-12-01T02:00'],
    ['GMT+2', '2026-11-30T19:00'],
    ['UTC-03:30', '2026-12-01T00:30'],
    ['+0530', '2026-12-01T15:30'],
    ['PST', '2026-12-01T05:00'],
    ['PDT', '2026-12-01T04:00'],
    ['ET', '2026-12-01T02:00'],
    ['CEST', '2026-11-30T19:00'],
    ['MEZ', '2026-11-30T20:00'],
    ['JST', '2026-12-01T12:00'],
    ['GMT', '2026-11-30T21:00'],
    ['europe/berlin', '2026-11-30T20:00'],
    // Three zones each, or none.
    ['CST', null],
    ['IST', null],
    ['BST', null],
    ['bst', null],
    ['XYZ', null],
    ['GMT+25', null],
    ['toString', null],
    ['', null],
  ];
  it.each(zones)(verifies('R38')('9pm of "%s", with and without brackets, is %s'), (zone, want) => {
    expect(at(`resets 9pm (${zone})`)).toBe(want);
    if (/^([A-Z]{2,5}|[A-Z].*\/.*)$/.test(zone)) expect(at(`Access resets at 9:00 PM ${zone}.`)).toBe(want);
    // A zone that is printed outweighs that of the process.
    expect(at(`resets 9pm (${zone})`, 'Asia/Tokyo')).toBe(want);
  });

  /** Said at, printed, meant: all in one zone. */
  const changes: [string, string, string, string][] = [
    // A clock change at midnight: the 4th of November 2018 had no 00:00 in São Paulo, the 18th of February had 23:00 twice.
    ['America/Sao_Paulo', '2018-11-04T01:00Z', 'resets 12am', '2018-11-04T03:00'],
    ['America/Sao_Paulo', '2018-11-04T01:00Z', 'resets 12:30am', '2018-11-04T03:30'],
    ['America/Sao_Paulo', '2018-11-04T01:00Z', 'resets 1am', '2018-11-04T03:00'],
    ['America/Sao_Paulo', '2018-02-17T23:00Z', 'resets 11:30pm', '2018-02-18T01:30'],
    // The first 23:30 has passed, the second has not.
    ['America/Sao_Paulo', '2018-02-18T01:40Z', 'resets 11:30pm', '2018-02-18T02:30'],
    ['America/Sao_Paulo', '2018-02-18T02:40Z', 'resets 11:30pm', '2018-02-19T02:30'],
    ['Asia/Beirut', '2022-03-26T20:00Z', 'resets 12am', '2022-03-26T22:00'],
    ['Asia/Beirut', '2022-03-26T20:00Z', 'resets 12:30am', '2022-03-26T22:30'],
    ['Africa/Cairo', '2026-04-23T20:00Z', 'resets 12am', '2026-04-23T22:00'],
    ['Africa/Cairo', '2026-10-29T18:00Z', 'resets 11:15pm', '2026-10-29T20:15'],
    ['America/Santiago', '2026-09-06T02:00Z', 'resets 12:15am', '2026-09-06T04:15'],
    ['America/Havana', '2026-11-01T03:00Z', 'resets 12am', '2026-11-01T04:00'],
    ['America/Havana', '2026-11-01T04:30Z', 'resets 12am', '2026-11-01T05:00'],
    // Gap and fold by day.
    ['Europe/Vienna', '2026-03-28T22:00Z', 'resets 2:30am', '2026-03-29T01:30'],
    ['Europe/Vienna', '2026-03-28T22:00Z', 'resets 3am', '2026-03-29T01:00'],
    ['Europe/Vienna', '2026-03-28T22:00Z', 'resets 1:59am', '2026-03-29T00:59'],
    ['Europe/Vienna', '2026-10-24T22:00Z', 'resets 2:30am', '2026-10-25T00:30'],
    ['Europe/Vienna', '2026-10-25T00:40Z', 'resets 2:30am', '2026-10-25T01:30'],
    ['Europe/Vienna', '2026-10-25T01:40Z', 'resets 2:30am', '2026-10-26T01:30'],
    ['America/New_York', '2026-11-01T04:00Z', 'resets 3am', '2026-11-01T08:00'],
    ['America/New_York', '2026-03-07T12:00Z', 'resets Mar 8, 2:30am', '2026-03-08T07:30'],
    // Half an hour of summer time.
    ['Australia/Lord_Howe', '2026-10-03T14:00Z', 'resets 2:15am', '2026-10-03T15:45'],
    ['Australia/Lord_Howe', '2026-04-04T14:00Z', 'resets 1:45am', '2026-04-04T14:45'],
    // The 30th of December 2011 was not in Samoa.
    ['Pacific/Apia', '2011-12-30T08:00Z', 'resets 9am', '2011-12-30T19:00'],
    // The next day, over the ends of a month and a year.
    ['UTC', '2026-12-31T23:59Z', 'resets 12am', '2027-01-01T00:00'],
    ['UTC', '2028-02-28T12:00Z', 'resets 11am', '2028-02-29T11:00'],
    ['UTC', '2026-12-31T20:00Z', 'resets Jan 2, 5am', '2027-01-02T05:00'],
    ['UTC', '2027-01-01T02:00Z', 'resets Dec 31, 11pm', '2026-12-31T23:00'],
    // The minute that runs now is the one that was printed; the one before it is tomorrow's.
    ['UTC', '2026-11-30T18:00:30Z', 'resets 6pm', '2026-11-30T18:00'],
    ['UTC', '2026-11-30T18:01:00Z', 'resets 6pm', '2026-12-01T18:00'],
  ];
  it.each(changes)(verifies('R38')('in %s at %s, "%s" is %s'), (zone, from, text, want) => {
    expect(at(text, zone, Date.parse(from))).toBe(want);
    expect(at(`${text} (${zone})`, null, Date.parse(from))).toBe(want);
  });

  it('a clock time of a process whose zone is not known stays unknown, its date too', () => {
    expect([at('resets 8pm', null), at('resets Dec 4, 2026, 8pm', null), at('try again in 3h', null)]).toEqual([
      null,
      null,
      '2026-11-30T21:00',
    ]);
  });

  it('the zone of a process is what TZ names, and none that each runtime reads in its own way', () => {
    expect(
      [
        'UTC',
        '',
        ':Europe/Berlin',
        'Asia/Seoul',
        'Etc/GMT+5',
        'EST5EDT',
        'UTC+2',
        '<+03>-3',
        'CST',
        'Nowhere/At_All',
      ].map(zoneOfTz),
    ).toEqual(['UTC', 'UTC', 'Europe/Berlin', 'Asia/Seoul', 'Etc/GMT+5', null, null, null, null, null]);
  });

  it(
    verifies('R38')('what is told as a number counts where a date can be written of it, and somebody can wait for it'),
    () => {
      const day = 86_400_000;
      for (const reset of [now, now - day, now + 30 * day, 1]) expect(plausibleReset(reset, now)).toBe(reset);
      expect(plausibleReset(now + 0.4, now)).toBe(now);
      for (const reset of [
        now * 1000,
        1e300,
        Number.NaN,
        Number.POSITIVE_INFINITY,
        0,
        -5,
        8.64e15 + 1,
        null,
        undefined,
      ])
        expect([reset, plausibleReset(reset, now), plausibleReset(reset === now * 1000 ? 1e16 : reset, null)]).toEqual([
          reset,
          null,
          null,
        ]);
    },
  );

  it('no text and no clock make it throw', () => {
    const words = fc.constantFrom(
      'resets',
      'at',
      'in',
      'on',
      'try again at',
      '9am',
      '(',
      ')',
      'UTC',
      'Jan',
      '31',
      ',',
      '2026',
    );
    const text = fc.array(fc.oneof(words, fc.string({ maxLength: 6 }), fc.nat(99_999).map(String)), { maxLength: 9 });
    const clock = fc.oneof(fc.constant(null), fc.integer({ min: -9e15, max: 9e15 }), fc.constantFrom(now, Number.NaN));
    fc.assert(
      fc.property(text, clock, fc.constantFrom('UTC', 'Asia/Seoul', null), (parts, from, zone) => {
        const reset = resetFromText(`resets ${parts.join(' ')}`, { now: from, zone });
        expect(reset === null || Number.isFinite(new Date(reset).getTime())).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('without a clock it knows only what carries a date', () => {
    expect(resetFromText('resets 1am', { now: null, zone: 'UTC' })).toBeNull();
    expect(resetFromText('limit reached|1749924000', { now: null, zone: 'UTC' })).toBe(1_749_924_000_000);
  });
});
