/**
 * One cleaning rule for texts that people and agents hand in: NUL and half surrogates become U+FFFD. UTF-8 has no form for
 * a half surrogate and PostgreSQL none for NUL (SQLite keeps it, but its own `length()` stops there), so what is accepted
 * is what every store gives back and every screen shows. Everything else (ANSI codes, right-to-left marks) is kept as it is.
 */
export const cleanText = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

/** The same for every string inside a parsed JSON value; keys too. Returns a copy. */
export const cleanTexts = <T>(value: T): T => walk(value) as T;

const walk = (value: unknown): unknown => {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(walk);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleanText(key), walk(inner)]));
};
