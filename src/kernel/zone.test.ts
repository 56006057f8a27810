import { expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { dayOf, endOf, isZone, monthOf, msOf, startOf } from './zone.ts';

const at = (iso: string) => Date.parse(iso);

it(verifies('R41')('a day is the day of the installation, over both changes of summer time'), () => {
  const berlin = 'Europe/Berlin';
  expect(dayOf(berlin, at('2026-11-30T23:30:00Z'))).toBe('2026-12-01');
  expect(monthOf(berlin, at('2026-11-30T23:30:00Z'))).toBe('2026-12');
  expect(startOf(berlin, 'day', at('2026-03-29T12:00:00Z'))).toBe(at('2026-03-28T23:00:00Z'));
  expect(endOf(berlin, 'day', at('2026-03-29T12:00:00Z'))).toBe(at('2026-03-29T22:00:00Z'));
  expect(endOf(berlin, 'day', at('2026-10-25T12:00:00Z')) - startOf(berlin, 'day', at('2026-10-25T12:00:00Z'))).toBe(
    25 * 3_600_000,
  );
  expect(startOf('Asia/Kathmandu', 'day', at('2026-11-30T12:00:00Z'))).toBe(at('2026-11-29T18:15:00Z'));
});

it('a month ends with the year, too', () => {
  expect(endOf('UTC', 'month', at('2026-12-31T23:59:59Z'))).toBe(at('2027-01-01T00:00:00Z'));
  expect(startOf('America/New_York', 'month', at('2026-11-30T00:00:00Z'))).toBe(at('2026-11-01T04:00:00Z'));
});

it(
  verifies('R41')('a day begins at its first moment and ends with the next one, where clocks change at midnight too'),
  () => {
    // 6 September has no 00:00, it begins at 01:00; 1 November has 00:00 twice.
    for (const [zone, day, first] of [
      ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00Z'],
      ['America/Havana', '2026-11-01', '2026-11-01T04:00:00Z'],
    ] as const) {
      expect(startOf(zone, 'day', at(`${day}T15:00:00Z`))).toBe(at(first));
      expect(endOf(zone, 'day', at(first) - 1)).toBe(at(first));
      expect([dayOf(zone, at(first) - 1) < day, dayOf(zone, at(first))]).toEqual([true, day]);
    }
  },
);

it('a local time that a change leaves out is later by the change, one that comes twice is the first of the two', () => {
  expect(msOf('Europe/Berlin', 2026, 3, 29, 2, 30)).toBe(at('2026-03-29T01:30:00Z'));
  expect(msOf('Europe/Berlin', 2026, 10, 25, 2, 30)).toBe(at('2026-10-25T00:30:00Z'));
});

it('a name that is no zone is none', () => {
  expect([isZone('Europe/Berlin'), isZone('UTC'), isZone('Mars/Base')]).toEqual([true, true, false]);
});
