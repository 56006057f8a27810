/**
 * When a limit resets, from the sentences the CLIs print. The structured `resetsAt` comes before any of these. Forms, oldest
 * first: `|1749924000`; `reset at 9am (America/Chicago)`; `resets 1am`; `resets Jul 18, 12pm (UTC)`; codex `try again at
 * 7:32 PM`, `Apr 28th, 2026 10:03 PM`, `in 3 days 4 hours`; gemini `19h59m51s`, `36.4s`; `regain access on 2026-12-01 at
 * 00:00 UTC`. A clock time without a date means its next occurrence, and nothing at all for a weekly window. Pure.
 */
import type { Context } from './finding.ts';

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const dayMs = 86_400_000;

export const resetFromText = (text: string, { now, zone }: Context): number | null => {
  const epoch = /\|(\d{10})(\d{3})?\b/.exec(text);
  if (epoch) return Number(epoch[1]) * 1000;
  const regain = /regain access on (\d{4})-(\d\d)-(\d\d)(?: at (\d\d):(\d\d) UTC)?/.exec(text);
  if (regain) {
    const [year, month, day, hour, minute] = regain.slice(1).map((s) => Number(s ?? 0)) as number[];
    return Date.UTC(year!, month! - 1, day!, hour!, minute!);
  }
  const span =
    /(?:try again in|retry in|retry after|reset after|resets in|resets after) ((?:[\d.]+ ?[a-z]+[ ,]*)+)/i.exec(text);
  if (span) {
    const ms = duration(span[1]!);
    return ms === null || now === null ? null : Math.round(now + ms);
  }
  const clock = /(?:try again at|resets? at|resets|reset on) (.+)$/i.exec(text.split(/\r?\n/, 1)[0]!);
  return clock ? clockTime(clock[1]!, { now, zone }, /week|opus|sonnet|7-day/i.test(text)) : null;
};

const unitMs: Record<string, number> = { d: dayMs, h: 3_600_000, m: 60_000, s: 1000 };

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

/** `8:27pm (UTC)`, `Jul 18, 12pm (UTC)`, `Apr 28th, 2026 10:03 PM.`, `1am`. */
const clockTime = (text: string, { now, zone: hostZone }: Context, weekly: boolean): number | null => {
  const m =
    /^(?:([A-Za-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,? (?:(\d{4}),? )?(?:at )?)?(\d{1,2})(?::(\d\d))? ?([ap]m)?(?: \(([A-Za-z0-9_+/-]+)\))?(?=[\s.·∙|]|$)/i.exec(
      text,
    );
  if (!m) return null;
  const [, monthName, day, year, hourText, minuteText, half, zoneText] = m;
  const month = monthName ? months.indexOf(monthName.toLowerCase()) : -1;
  if (monthName && month < 0) return null;
  let hour = Number(hourText);
  const minute = Number(minuteText ?? 0);
  if (half) {
    if (hour < 1 || hour > 12) return null;
    hour = (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  } else if (minuteText === undefined) return null;
  if (hour > 23 || minute > 59) return null;
  const zone = zoneText ?? hostZone;
  if (monthName) {
    if (year) return zonedTime(Number(year), month, Number(day), hour, minute, zone);
    if (now === null) return null;
    // Without a year: the one that lies nearest. A reset is never half a year away.
    const base = new Date(now).getUTCFullYear();
    const near = [base - 1, base, base + 1].map((y) => zonedTime(y, month, Number(day), hour, minute, zone));
    return near.reduce((a, b) => (b !== null && (a === null || Math.abs(b - now) < Math.abs(a - now)) ? b : a), null);
  }
  if (weekly || now === null) return null;
  const today = partsIn(zone, now);
  if (today === null) return null;
  for (const ahead of [0, 1, 2]) {
    const at = zonedTime(today.year, today.month, today.day + ahead, hour, minute, zone);
    if (at !== null && at > now) return at;
  }
  return null;
};

const partsIn = (zone: string, at: number): { year: number; month: number; day: number; asUtc: number } | null => {
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    const part: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(at)) part[type] = Number(value);
    const asUtc = Date.UTC(part.year!, part.month! - 1, part.day!, part.hour!, part.minute!, part.second!);
    return { year: part.year!, month: part.month! - 1, day: part.day!, asUtc };
  } catch {
    return null; // An unknown zone or a time out of range: then the reset is not known.
  }
};

/** The moment at which clocks in `zone` show this. Two steps, because the offset is that of the result, not of the guess. */
const zonedTime = (y: number, mo: number, d: number, h: number, mi: number, zone: string): number | null => {
  const shown = Date.UTC(y, mo, d, h, mi);
  let at = shown;
  for (let i = 0; i < 2; i++) {
    const parts = partsIn(zone, at);
    if (parts === null) return null;
    at -= parts.asUtc - shown;
  }
  return Number.isFinite(at) ? at : null;
};
