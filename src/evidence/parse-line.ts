/**
 * One line of a stream: a JSON event, an event that was cut, or plain text. A caller cuts lines over its bound (1 MiB), so a
 * big event loses its end: what stood at its top level before the cut is still read, because a `result` with a huge answer
 * must not turn a success into "no result". A cut event is never taken for plain text, and never quoted as evidence.
 */

type ParsedLine =
  | { kind: 'event'; event: Record<string, unknown> }
  | { kind: 'cut'; event: Record<string, unknown> }
  | { kind: 'text' };

export const parseLine = (text: string): ParsedLine => {
  const start = firstInk(text);
  if (text[start] !== '{') return { kind: 'text' };
  try {
    const value: unknown = JSON.parse(text.slice(start));
    if (typeof value === 'object' && value !== null) return { kind: 'event', event: value as Record<string, unknown> };
  } catch {
    // Not whole: below.
  }
  const event = topLevelOfCut(text, start);
  return event === null ? { kind: 'text' } : { kind: 'cut', event };
};

const firstInk = (text: string): number => {
  let i = 0;
  while (i < text.length && (text[i] === ' ' || text[i] === '\t' || text[i] === '\uFEFF')) i++;
  return i;
};

/**
 * Top-level keys with scalar values up to the cut, in one pass. What is nested, or itself cut, is left out. Null when the
 * object ends before the line does: then it was not cut, and more was written behind it.
 */
const topLevelOfCut = (text: string, start: number): Record<string, unknown> | null => {
  const out: Record<string, unknown> = {};
  let depth = 0;
  let key: string | null = null;
  for (let i = start; i < text.length; i++) {
    const c = text[i]!;
    if (c === '"') {
      const end = endOfString(text, i);
      if (end < 0) return out;
      if (depth === 1) {
        const value = unquote(text.slice(i, end + 1));
        if (value === null) return out;
        if (key === null) key = value;
        else {
          if (key !== '__proto__') out[key] = value;
          key = null;
        }
      }
      i = end;
    } else if (c === '{' || c === '[') {
      depth++;
      if (depth === 2) key = null;
    } else if (c === '}' || c === ']') {
      depth--;
      if (depth === 0) return null;
    } else if (depth === 1 && key !== null && /[-0-9tfn]/.test(c)) {
      const scalar = /^(true|false|null|-?\d+(\.\d+)?([eE][-+]?\d+)?)(?=[,}\s])/.exec(text.slice(i, i + 40));
      if (!scalar) return out;
      if (key !== '__proto__') out[key] = JSON.parse(scalar[1]!);
      key = null;
      i += scalar[1]!.length - 1;
    }
  }
  return out;
};

const endOfString = (text: string, open: number): number => {
  for (let i = open + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '"') return i;
  }
  return -1;
};

const unquote = (quoted: string): string | null => {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return null;
  }
};
