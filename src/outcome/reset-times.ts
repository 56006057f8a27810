/**
 * When a limit resets, from the sentences the CLIs print. The structured `resetsAt` comes before any of these. Forms, oldest
 * first: `|1749924000`; `reset at 9am (America/Chicago)`; `resets 1am`; `resets Jul 18, 12pm (UTC)`; codex `try again at
 * 7:32 PM`, `Apr 28th, 2026 10:03 PM`, `in 3 days 4 hours`; gemini `19h59m51s`, `36.4s`, `at 11:00 AM PDT`; `regain access on
 * 2026-12-01 at 00:00 UTC`. A clock time without a date means its next occurrence, and nothing at all for a weekly window. What
 * cannot be read with certainty is null, never a guess. Pure.
 */
import { dateOf, momentsOf } from '../kernel/zone.ts';
import type { Context } from './finding.ts';
import { zoneNamed } from './printed-zones.ts';

const dayMs = 86_400_000;
const minuteMs = 60_000;
/** Far over any window, so that a clock which is wrong by years hides no reset; ms taken for seconds are 56,000 years away. */
const farthestMs = 3_650 * dayMs;
/** The last moment that a Date holds. */
const lastMs = 8_640_000_000_000_000;

/**
 * A reset as it was told, or null when nobody can have meant it (ms taken for seconds, 1e300, the year 50000): whoever waits for it
 * waits for ever, and no date can be written of it. One that has passed stays: then trying again at once is right.
 */
export const plausibleReset = (reset: number | null | undefined, now: number | null): number | null => {
  if (reset === null || reset === undefined || !Number.isFinite(reset)) return null;
  const last = now === null ? lastMs : Math.min(lastMs, now + farthestMs);
  const ms = Math.round(reset);
  return ms > 0 && ms <= last ? ms : null;
};

export const resetFromText = (text: string, context: Context): number | null => {
  // Intl puts narrow spaces before AM and PM.
  const said = text.replace(/[\u00a0\u2009\u202f]/g, ' ');
  // A clock beyond what a Date holds, a few days on, is none.
  const now = context.now !== null && Math.abs(context.now) < lastMs - farthestMs ? context.now : null;
  return plausibleReset(readReset(said, { ...context, now }), now);
};

const readReset = (text: string, context: Context): number | null => {
  const epoch = /\|(\d{10})(\d{3})?\b/.exec(text);
  if (epoch) return Number(epoch[1]) * 1000;
  const span =
    /(?:try again in|retry in|retry after|reset after|resets in|resets after) ((?:[\d.]+ ?[a-z]+[ ,]*(?:and )?)+)/i.exec(
      text,
    );
  if (span) {
    const ms = duration(span[1]!);
    return ms === null || context.now === null ? null : context.now + ms;
  }
  const at =
    /(?:try again at|try again on|try again after|regain access on|resets? at|resets? on|resets) (?=\S)(.+)$/i.exec(
      text.split(/\r?\n/, 1)[0]!,
    )?.[1];
  if (at === undefined) return null;
  return isoTime(at, context) ?? clockTime(at, context, /week|opus|sonnet|fable|7-day/i.test(text));
};

const unitMs: Record<string, number> = { d: dayMs, h: 3_600_000, m: minuteMs, s: 1000 };

/** `19h59m51s`, `36.4s`, `3 days 4 hours 12 minutes`. */
const duration = (text: string): number | null => {
  let total = 0;
  let found = false;
  for (const part of text.matchAll(
    /(\d+(?:\.\d+)?) ?(days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s|ms)(?![a-z])/gi,
  )) {
    const unit = part[2]!.toLowerCase();
    total += Number(part[1]) * (unit === 'ms' ? 1 : unitMs[unit[0]!]!);
    found = true;
  }
  return found ? total : null;
};

interface Clock {
  hour: number;
  minute: number;
}
/** What of a date was printed. The month from 1. */
type Day =
  | { kind: 'date'; year: number | null; month: number; day: number }
  | { kind: 'weekday'; weekday: number }
  | { kind: 'ahead'; days: number }
  | null;

/** `2026-12-01T09:00:00+09:00`, `2026-12-01 at 00:00 UTC`, `2026-12-01` alone: its first moment. */
const isoTime = (text: string, context: Context): number | null => {
  const m = /^(\d{4})-(\d\d)-(\d\d)(?:(?:T| at | )(\d\d):(\d\d)(?::\d\d(?:\.\d+)?)?)?(.*)$/.exec(text);
  if (!m) return null;
  const [year, month, day, hour, minute] = m.slice(1, 6).map((s) => Number(s ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  // A day alone is one of the provider's account: UTC.
  const zone = m[4] === undefined ? 'UTC' : zoneAfter(m[6]!, context.zone);
  if (zone === null || !isDate(year, month, day) || hour > 23 || minute > 59) return null;
  return momentsOf(zone, year, month, day, hour, minute)[0];
};

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const isDate = (year: number, month: number, day: number): boolean => {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};

/** `8:27pm (UTC)`, `Jul 18, 12pm (UTC)`, `Apr 28th, 2026 10:03 PM.`, `Thu 10:00 AM`, `tomorrow at 9 a.m.`, `1am`. */
const clockTime = (text: string, context: Context, weekly: boolean): number | null => {
  const m =
    /^(?:([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,? (?:(\d{4}),? )?(?:at )?|(?:(?:on )?(sun|mon|tue|wed|thu|fri|sat)[a-z]*|(today|tomorrow)),? (?:at )?)?(\d{1,2})(?::(\d\d)(?::\d\d)?)? ?([ap]\.?m\b\.?)?(?=[\s.,()·∙|+-]|$)/i.exec(
      text,
    );
  if (!m) return null;
  const clock = clockOf(m[6]!, m[7], m[8]);
  const day = dayOf(m);
  const zone = zoneAfter(text.slice(m[0].length), context.zone);
  if (clock === null || day === undefined || zone === null) return null;
  if (day?.kind === 'date') return onDate(day, clock, zone, context.now);
  // A clock time alone says nothing of a window of a week, and without a clock of ours nothing of the day.
  if (context.now === null || (day === null && weekly)) return null;
  return next(day, clock, zone, context.now);
};

const clockOf = (hourText: string, minuteText: string | undefined, half: string | undefined): Clock | null => {
  const hour = Number(hourText);
  const minute = Number(minuteText ?? 0);
  if (minute > 59) return null;
  if (half === undefined) return minuteText === undefined || hour > 23 ? null : { hour, minute };
  if (hour < 1 || hour > 12) return null;
  return { hour: (hour % 12) + (half.toLowerCase().startsWith('p') ? 12 : 0), minute };
};

/** Undefined: there is a word where a date stands, and it is none. */
const dayOf = (m: RegExpExecArray): Day | undefined => {
  const [, monthName, day, year, weekday, ahead] = m;
  if (weekday !== undefined) return { kind: 'weekday', weekday: weekdays.indexOf(weekday.toLowerCase()) };
  if (ahead !== undefined) return { kind: 'ahead', days: ahead.toLowerCase() === 'today' ? 0 : 1 };
  if (monthName === undefined) return null;
  const month = months.indexOf(monthName.toLowerCase()) + 1;
  // 2000 was a leap year: a 29th of February without a year is a day.
  if (month === 0 || !isDate(Number(year ?? 2000), month, Number(day))) return undefined;
  return { kind: 'date', year: year === undefined ? null : Number(year), month, day: Number(day) };
};

const onDate = (
  { year, month, day }: Extract<Day, { kind: 'date' }>,
  { hour, minute }: Clock,
  zone: string,
  now: number | null,
): number | null => {
  const at = (y: number) => momentsOf(zone, y, month, day, hour, minute)[0];
  if (year !== null) return at(year);
  if (now === null) return null;
  // Without a year: the one that lies nearest. A reset is never half a year away.
  const base = new Date(now).getUTCFullYear();
  const near = [base - 1, base, base + 1].filter((y) => isDate(y, month, day)).map(at);
  return near.length === 0 ? null : near.reduce((a, b) => (Math.abs(b - now) < Math.abs(a - now) ? b : a));
};

/** The next time that clocks show it, the minute that runs now included: it was printed in that minute. */
const next = (
  day: Exclude<Day, { kind: 'date' }>,
  { hour, minute }: Clock,
  zone: string,
  now: number,
): number | null => {
  const today = dateOf(zone, now);
  const on = (ahead: number) => momentsOf(zone, today.year, today.month, today.day + ahead, hour, minute);
  if (day?.kind === 'ahead') return on(day.days).find((ms) => ms > now - minuteMs) ?? on(day.days)[0];
  const weekday = new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay();
  for (let ahead = 0; ahead <= 8; ahead++) {
    if (day !== null && (weekday + ahead) % 7 !== day.weekday) continue;
    const at = on(ahead).find((ms) => ms > now - minuteMs);
    if (at !== undefined) return at;
  }
  return null;
};

/** The zone printed behind a time; the host's where none is, null where one is that nobody can name for certain. */
const zoneAfter = (rest: string, hostZone: string | null): string | null => {
  const printed =
    /^ ?\(([^()]*)\)/.exec(rest)?.[1] ??
    /^ ?((?:UTC|GMT)?[+-]\d{1,2}(?::?\d\d)?|Z)(?=[\s.,·∙|)]|$)/.exec(rest)?.[1] ??
    /^ ([A-Z]{2,5}|[A-Z][A-Za-z_]+\/[A-Za-z0-9_/+-]+)(?=[\s.,·∙|)]|$)/.exec(rest)?.[1];
  return printed === undefined ? hostZone : zoneNamed(printed);
};
