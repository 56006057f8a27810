/**
 * Cuts what a CLI sent down to what may be kept: facts are stored per attempt, so one event may never carry megabytes.
 * Promises a JSON value of bounded size and depth with well-formed strings (half surrogates become U+FFFD). Never throws.
 */

/** 4000 characters hold every error body seen (the longest in the collection is 700); 40 items hold `errors[]` and windows. */
const textMost = 4000;
const itemsMost = 40;
const depthMost = 6;
/** Of one event, over all: 40 items of 40 items of 4000 characters would be MBs, and dozens of events are kept. */
const eventMost = 64 * 1024;
/** What an item costs without its text: quotes, comma, a number. */
const itemCost = 8;

export const clipText = (text: string, max: number): string =>
  (text.length > max ? `${text.slice(0, max)}…` : text).toWellFormed();

/** Characters that are left of an event. */
interface Room {
  left: number;
}

const clip = (value: unknown, room: Room, depth: number): unknown => {
  room.left -= itemCost;
  if (typeof value === 'string') {
    const text = clipText(value, Math.max(0, Math.min(textMost, room.left)));
    room.left -= text.length;
    return text;
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object' || depth >= depthMost) return null;
  return Array.isArray(value)
    ? clipList(value, room, depth)
    : clipFields(value as Record<string, unknown>, room, depth);
};

const clipList = (value: unknown[], room: Room, depth: number): unknown[] => {
  const out: unknown[] = [];
  for (const item of value) {
    if (out.length === itemsMost || room.left <= 0) break;
    out.push(clip(item, room, depth + 1));
  }
  return out;
};

const clipFields = (value: Record<string, unknown>, room: Room, depth: number): Record<string, unknown> => {
  const out: Record<string, unknown> = {};
  let fields = 0;
  for (const key of Object.keys(value)) {
    if (fields++ === itemsMost || room.left <= 0) break;
    // `__proto__` as a plain key would set the prototype instead of a field.
    if (key === '__proto__') continue;
    const name = clipText(key, 200);
    room.left -= name.length;
    out[name] = clip(value[key], room, depth + 1);
  }
  return out;
};

export const clipRecord = (value: Record<string, unknown>): Record<string, unknown> =>
  clipFields(value, { left: eventMost }, 0);

export const asRecord = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;

export const asText = (value: unknown): string | null => (typeof value === 'string' ? value.toWellFormed() : null);

/** An id, a model, a mode: longer than any that is one, and remembered by the dozen. */
const nameMost = 300;
export const asName = (value: unknown): string | null => (typeof value === 'string' ? clipText(value, nameMost) : null);

/** Far over what a run can count, and four of them are still a safe integer, as facts need it. */
const countMost = 1e15;
export const asCount = (value: unknown): number =>
  typeof value === 'number' && value > 0 ? Math.floor(Math.min(value, countMost)) : 0;
/** No run costs a million; a number beyond, or below zero, is none that was measured. */
const moneyMost = 1e6;
export const asMoney = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 && value <= moneyMost ? value : null;
export const addCounts = (a: number, b: number): number => Math.min(countMost, a + b);
