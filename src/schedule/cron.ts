/**
 * A cron expression and a time zone → points in time. Pure: `from` is always handed in. The rules of DST are the library's: a
 * fixed time in the gap is moved to its end (02:30 → 03:00), a fixed time that comes twice fires the first time, and what fires
 * every hour or minute fires by elapsed time. Never schedules anything itself.
 */
import { Cron } from 'croner';
import { type Refusal, refuse } from '../contract/errors.ts';
import { isZone } from '../kernel/zone.ts';

const cronOf = (expression: string, timezone: string): Cron =>
  new Cron(expression, { timezone, paused: true, mode: '5-or-6-parts' });

/** Null when it can be used. The problem names the field, as a client wrote it. */
export const cronProblem = (expression: string, timezone: string, now: number): Refusal | null => {
  if (!isZone(timezone))
    return invalid('timezone', `is not a time zone (${JSON.stringify(timezone)}); write one like Europe/Berlin or UTC`);
  // A date is a pattern to the library, for one run. Here it would be a schedule that never comes again.
  if (/^\d{4}-/.test(expression.trim()))
    return invalid('cron_expression', 'is a date; write five fields (minute hour day month weekday)');
  try {
    if (cronOf(expression, timezone).nextRun(new Date(now)) === null)
      return invalid('cron_expression', 'never comes true (a 31st of February?)');
  } catch (error) {
    const why = (error as Error).message.replace(/^CronPattern: /, '').replace(/\.$/, '');
    return invalid(
      'cron_expression',
      `cannot be read: ${why}. Write five fields (minute hour day month weekday), six with seconds before them, or @daily`,
    );
  }
  return null;
};

const invalid = (field: string, problem: string): Refusal =>
  refuse('invalid', `${field} ${problem}.`, { details: [{ field, problem }] });

/** The first `n` points after `from`, ms. */
export const pointsAfter = (expression: string, timezone: string, from: number, n: number): number[] =>
  cronOf(expression, timezone)
    .nextRuns(n, new Date(from))
    .map((d) => d.getTime());

/** The last `n` points up to and with `until`, oldest first, ms. */
export const pointsBefore = (expression: string, timezone: string, until: number, n: number): number[] =>
  cronOf(expression, timezone)
    .previousRuns(n, new Date(until + 1))
    .map((d) => d.getTime())
    .filter((at) => at <= until)
    .reverse();
