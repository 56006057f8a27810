/**
 * Days and months as people of an installation count them: in its time zone, over changes of summer time. Pure: the time is an
 * argument. A period is from its first ms to the first ms of the next one.
 */
type Period = 'day' | 'month';

/** 28 kB each, and a name may come from a text that a program printed: case and offsets give it no end of spellings. */
const formatsMost = 100;
const formats = new Map<string, Intl.DateTimeFormat>();
const formatOf = (zone: string): Intl.DateTimeFormat => {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    if (formats.size >= formatsMost) formats.clear();
    formats.set(zone, format);
  }
  return format;
};

interface Local {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}
const localOf = (zone: string, ms: number): Local => {
  const local: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(ms)) local[type] = Number(value);
  return local as unknown as Local;
};

/** The host's own, from TZ or its configuration. */
export const hostZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

export const isZone = (zone: string): boolean => {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
};

/** Farther than any zone is from UTC: the offset before and after a change that is near. */
const asideMs = 86_400_000;

/**
 * The moments, ms UTC, at which clocks of the zone show a local time: two when a change makes it come twice, in their order. One
 * that a change leaves out is as much later as the change leaves out.
 */
export const momentsOf = (
  zone: string,
  year: number,
  month: number,
  day: number,
  hour = 0,
  minute = 0,
): [number, ...number[]] => {
  const wanted = Date.UTC(year, month - 1, day, hour, minute);
  const off = (ms: number) => {
    const l = localOf(zone, ms);
    return Date.UTC(l.year, l.month - 1, l.day, l.hour, l.minute, l.second) - Math.floor(ms / 1000) * 1000;
  };
  const before = wanted - off(wanted - asideMs);
  const after = wanted - off(wanted + asideMs);
  const [first, ...more] = [...new Set([before, after])].filter((ms) => ms + off(ms) === wanted);
  return first === undefined ? [before] : [first, ...more];
};

/** The first of them. So midnight is the first moment of its day where clocks change at midnight, too (Santiago, Havana). */
export const msOf = (zone: string, year: number, month: number, day: number, hour = 0, minute = 0): number =>
  momentsOf(zone, year, month, day, hour, minute)[0];

/** The day that a moment lies in, as the zone counts; the month from 1. */
export const dateOf = (zone: string, ms: number): { year: number; month: number; day: number } => localOf(zone, ms);

const two = (n: number): string => String(n).padStart(2, '0');
export const dayOf = (zone: string, ms: number): string => {
  const { year, month, day } = localOf(zone, ms);
  return `${year}-${two(month)}-${two(day)}`;
};
export const monthOf = (zone: string, ms: number): string => dayOf(zone, ms).slice(0, 7);

export const startOf = (zone: string, period: Period, ms: number): number => {
  const { year, month, day } = localOf(zone, ms);
  return msOf(zone, year, month, period === 'day' ? day : 1);
};
export const endOf = (zone: string, period: Period, ms: number): number => {
  const { year, month, day } = localOf(zone, ms);
  // Date.UTC carries a 32nd day and a 13th month over.
  return period === 'day' ? msOf(zone, year, month, day + 1) : msOf(zone, year, month + 1, 1);
};
