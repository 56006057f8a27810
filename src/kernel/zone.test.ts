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

it('a local time that summer time leaves out is near the change, and a name that is no zone is none', () => {
  expect(Math.abs(msOf('Europe/Berlin', 2026, 3, 29, 2, 30) - at('2026-03-29T01:00:00Z'))).toBeLessThanOrEqual(
    3_600_000,
  );
  expect([isZone('Europe/Berlin'), isZone('UTC'), isZone('Mars/Base')]).toEqual([true, true, false]);
});
