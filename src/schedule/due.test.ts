import { describe, expect, it } from 'vitest';
import { aSchedule } from '../../test/support/rows.ts';
import { verifies } from '../../test/support/verifies.ts';
import { scheduleLimits } from '../contract/schedule.ts';
import { cronProblem, pointsAfter } from './cron.ts';
import { nextPoints, planTicks } from './due.ts';

const at = (iso: string) => Date.parse(iso);
const iso = (all: number[]) => all.map((ms) => new Date(ms).toISOString());
const minute = 60_000;

describe('a pattern in its time zone', () => {
  it(
    verifies('D34', 'R43')('fires once a day across both changes of the clock, in two zones that change on other days'),
    () => {
      const berlin = (from: string) => iso(pointsAfter('30 2 * * *', 'Europe/Berlin', at(from), 3));
      // 29 March: 02:30 is not there, 03:00 is the end of the gap. 25 October: 02:30 comes twice, the first one counts.
      expect(berlin('2026-03-28T12:00:00Z')).toEqual([
        '2026-03-29T01:00:00.000Z',
        '2026-03-30T00:30:00.000Z',
        '2026-03-31T00:30:00.000Z',
      ]);
      expect(berlin('2026-10-24T12:00:00Z')).toEqual([
        '2026-10-25T00:30:00.000Z',
        '2026-10-26T01:30:00.000Z',
        '2026-10-27T01:30:00.000Z',
      ]);
      const newYork = (from: string, pattern = '30 1 * * *') =>
        iso(pointsAfter(pattern, 'America/New_York', at(from), 3));
      expect(newYork('2026-10-31T12:00:00Z')).toEqual([
        '2026-11-01T05:30:00.000Z',
        '2026-11-02T06:30:00.000Z',
        '2026-11-03T06:30:00.000Z',
      ]);
      expect(newYork('2026-03-07T12:00:00Z', '30 2 * * *')[0]).toBe('2026-03-08T07:00:00.000Z');
    },
  );

  it(verifies('D34')('that fires every hour misses none and doubles none when the clock changes'), () => {
    for (const [zone, from] of [
      ['Europe/Berlin', '2026-10-24T22:30:00Z'],
      ['Europe/Berlin', '2026-03-28T22:30:00Z'],
      ['America/New_York', '2026-11-01T03:30:00Z'],
    ] as const) {
      const points = pointsAfter('0 * * * *', zone, at(from), 6);
      expect(points.slice(1).map((p, i) => p - points[i]!)).toEqual([60, 60, 60, 60, 60].map((m) => m * minute));
    }
  });

  it('is refused by the name of its field when it cannot be read or never comes true', () => {
    const now = at('2026-11-01T00:00:00Z');
    for (const bad of ['nonsense', '* * *', '61 * * * *', '0 0 31 2 *', '2030-01-01T00:00:00', '* * * * * * *'])
      expect(cronProblem(bad, 'UTC', now)).toMatchObject({ code: 'invalid', details: [{ field: 'cron_expression' }] });
    expect(cronProblem('* * * * *', 'Mars/Olympus', now)).toMatchObject({ details: [{ field: 'timezone' }] });
    for (const good of ['*/5 * * * *', '@daily', '0 9 * * MON-FRI', '30 * * * * *', '0 0 L * *'])
      expect(cronProblem(good, 'Europe/Berlin', now)).toBeNull();
  });
});

describe('what is due', () => {
  const first = at('2026-11-01T09:00:00Z');
  const hourly = aSchedule({ cron_expression: '0 * * * *', next_fire_at: first, next_due_at: first });
  const skips = (over: object, now: number, paused = false) =>
    planTicks({ ...hourly, ...over }, now, paused).ticks.map((t) => t.skip !== null);

  it('is nothing before its time, and the tick itself at its time', () => {
    expect(planTicks(hourly, first - 1, false)).toMatchObject({ ticks: [], next: { fire_at: first } });
    expect(planTicks(hourly, first, false)).toMatchObject({
      ticks: [{ fire_at: first, skip: null }],
      next: { fire_at: first + 60 * minute },
    });
  });

  it(verifies('D34', 'R43')('after an absence is one tick each, run by the stated policy'), () => {
    const back = first + 2 * 60 * minute + 30 * minute;
    expect(skips({ catch_up: 'none' }, back)).toEqual([true, true, true]);
    expect(skips({ catch_up: 'once' }, back)).toEqual([true, true, false]);
    expect(skips({ catch_up: 'all' }, back)).toEqual([false, false, false]);
    // One that is on time is not missed: it runs under every policy.
    expect(skips({ catch_up: 'none' }, first + 2 * 60 * minute)).toEqual([true, true, false]);
    expect(planTicks(hourly, back, false).next?.fire_at).toBe(first + 3 * 60 * minute);
  });

  it('is skipped while schedules are held, whatever the policy', () => {
    expect(skips({ catch_up: 'all' }, first, true)).toEqual([true]);
  });

  it('after a very long absence is the newest ticks, and says that older ones were dropped', () => {
    const plan = planTicks(
      { ...hourly, cron_expression: '* * * * *', catch_up: 'once' },
      first + 7 * 86_400_000,
      false,
    );
    expect(plan.dropped).toBe(true);
    expect(plan.ticks).toHaveLength(scheduleLimits.missedMax);
    expect(plan.ticks.at(-1)).toMatchObject({ fire_at: first + 7 * 86_400_000 });
  });

  it('is moved by its jitter: spread, bounded, and the same whenever it is asked', () => {
    const s = { ...hourly, jitter_s: 600 };
    const points = nextPoints(s, first, 20);
    expect(nextPoints(s, first, 20)).toEqual(points);
    const shifts = points.map((p) => p.due_at - p.fire_at);
    expect(Math.min(...shifts)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...shifts)).toBeLessThan(600_000);
    expect(new Set(shifts).size).toBeGreaterThan(15);
    const due = nextPoints(s, first - 1, 1)[0]!.due_at;
    expect(planTicks({ ...s, next_due_at: due }, due - 1, false).ticks).toEqual([]);
    expect(planTicks({ ...s, next_due_at: due }, due, false).ticks).toHaveLength(1);
  });
});
