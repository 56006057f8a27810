/**
 * Cuts what a CLI sent down to what may be kept: facts are stored per attempt, so one event may never carry megabytes.
 * Promises a JSON value of bounded size and depth with well-formed strings (half surrogates become U+FFFD). Never throws.
 */

interface ClipBounds {
  text: number;
  items: number;
  depth: number;
}

/** 4000 characters hold every error body seen (the longest in the collection is 700); 40 items hold `errors[]` and windows. */
const eventBounds: ClipBounds = { text: 4000, items: 40, depth: 6 };

export const clipText = (text: string, max: number): string =>
  (text.length > max ? `${text.slice(0, max)}…` : text).toWellFormed();

const clip = (value: unknown, bounds: ClipBounds = eventBounds, depth = 0): unknown => {
  if (typeof value === 'string') return clipText(value, bounds.text);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object' || depth >= bounds.depth) return null;
  if (Array.isArray(value)) return value.slice(0, bounds.items).map((item) => clip(item, bounds, depth + 1));
  return clipRecord(value as Record<string, unknown>, bounds, depth);
};

export const clipRecord = (
  value: Record<string, unknown>,
  bounds: ClipBounds = eventBounds,
  depth = 0,
): Record<string, unknown> => {
  const out: Record<string, unknown> = {};
  let left = bounds.items;
  for (const key of Object.keys(value)) {
    if (left-- === 0) break;
    // `__proto__` as a plain key would set the prototype instead of a field.
    if (key !== '__proto__') out[clipText(key, 200)] = clip(value[key], bounds, depth + 1);
  }
  return out;
};

export const asRecord = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;

export const asText = (value: unknown): string | null => (typeof value === 'string' ? value.toWellFormed() : null);

export const asCount = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
