/** Times, sizes and money in words. Pure: the moment is an argument, and what was not measured is a dash. */
import { inDollars } from '../../../src/contract/dollars.ts';

const s = 1000;
const m = 60 * s;
const h = 60 * m;
const d = 24 * h;

export const notKnown = '–';

export const msOf = (iso: string | null | undefined): number | null => {
  const ms = iso === null || iso === undefined ? Number.NaN : Date.parse(iso);
  return Number.isNaN(ms) ? null : ms;
};

/** Two units at most, never rounded up: `0s`, `59s`, `2m 05s`, `1h 07m`, `3d 4h`. */
export const span = (ms: number | null): string => {
  if (ms === null || !Number.isFinite(ms)) return notKnown;
  // Clocks of browser and server differ: a little below zero is zero.
  const t = Math.max(0, ms);
  if (t < m) return `${Math.floor(t / s)}s`;
  if (t < h) return `${Math.floor(t / m)}m ${two(Math.floor((t % m) / s))}s`;
  if (t < d) return `${Math.floor(t / h)}h ${two(Math.floor((t % h) / m))}m`;
  return `${Math.floor(t / d)}d ${Math.floor((t % d) / h)}h`;
};

/** A measured duration: finer below ten seconds. */
export const lasted = (ms: number | null): string =>
  ms !== null && ms >= 0 && ms < 10 * s ? `${(Math.floor(ms / 100) / 10).toFixed(1)}s` : span(ms);

/** One unit: `now`, `12s ago`, `4m ago`, `3h ago`, `2d ago`. */
export const ago = (then: number | null, now: number): string => {
  if (then === null) return notKnown;
  const t = now - then;
  if (t < s) return 'now';
  if (t < m) return `${Math.floor(t / s)}s ago`;
  if (t < h) return `${Math.floor(t / m)}m ago`;
  if (t < d) return `${Math.floor(t / h)}h ago`;
  return `${Math.floor(t / d)}d ago`;
};

const formats = new Map<string | undefined, Intl.DateTimeFormat>();

/** Year, month, day and the time of day of a moment in a zone; without one, in that of the browser. */
const partsOf = (at: number, zone: string | undefined): { day: string; time: string } => {
  let format = formats.get(zone);
  if (format === undefined) {
    // The Swedish way of writing a moment is `2026-11-30 12:00:05`.
    format = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone: zone });
    formats.set(zone, format);
  }
  const [day, time] = format.format(at).split(' ');
  return { day: day!, time: time! };
};

/** The clock of the reader; with the day when it is not today. */
export const clockTime = (at: number | null, now: number, zone?: string): string => {
  if (at === null) return notKnown;
  const { day, time } = partsOf(at, zone);
  return day === partsOf(now, zone).day ? time : `${day} ${time}`;
};

/** All that is known of a moment: `2026-11-30 12:00:05 Europe/Berlin`. */
export const exactTime = (at: number | null, zone: string): string => {
  if (at === null) return 'not known';
  const { day, time } = partsOf(at, zone);
  return `${day} ${time} ${zone}`;
};

export const bytes = (n: number | null | undefined): string => {
  if (n === null || n === undefined) return notKnown;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = n;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
};

/** The kind belongs to the figure: a plan's notional dollars were never billed. */
export const cost = (usd: number | null, kind?: 'billed' | 'notional' | 'unknown' | null): string => {
  if (usd === null) return notKnown;
  const figure = inDollars(usd);
  return kind === 'notional' ? `${figure} notional` : kind === 'unknown' ? `≈ ${figure}` : figure;
};

/** `1,234`; `12.3k` from ten thousand on. */
export const count = (n: number | null | undefined): string => {
  if (n === null || n === undefined) return notKnown;
  if (n < 10_000) return n.toLocaleString('en-US');
  return n < 1_000_000 ? `${(n / 1000).toFixed(1)}k` : `${(n / 1_000_000).toFixed(1)}M`;
};

export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

const two = (n: number): string => String(n).padStart(2, '0');
