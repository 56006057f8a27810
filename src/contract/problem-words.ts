/**
 * What is wrong with a field of a request, a file or a line, in the words of whoever sent it: read after the field's name
 * ("timeout_seconds: must be at least 10"). API and command line say the same. A schema with a message of its own keeps it; what has
 * no words here gets zod's. Pure.
 */
import type { z } from 'zod';

/** Null: leave it to zod. */
export const problemInWords = (issue: z.core.$ZodRawIssue): string | null => {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing';
      // A text of the query that is no number: what was sent is gone by now, and "not a number" would be read as its opposite.
      if (Number.isNaN(issue.input)) return `must be ${kind(issue.expected)}`;
      // A kind of number: the number says more than its kind.
      if (typeof issue.input === 'number' && ['number', 'int'].includes(issue.expected))
        return `must be ${kind(issue.expected)}, not ${issue.input}`;
      return `must be ${kind(issue.expected)}, not ${kindOf(issue.input)}`;
    case 'too_small':
      return tooSmall(issue.origin, Number(issue.minimum), issue.inclusive !== false);
    case 'too_big':
      return tooBig(issue.origin, Number(issue.maximum), issue.inclusive !== false);
    case 'invalid_value':
      return issue.input === undefined
        ? 'is missing'
        : `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return issue.format === 'url' ? 'must be a URL, such as http://127.0.0.1:9100' : null;
    case 'unrecognized_keys':
      return `knows no ${issue.keys.join(', ')}`;
    default:
      return null;
  }
};

/** For one parse: `schema.safeParse(value, inWords)`. */
export const inWords = { error: problemInWords };

/** `exit_code: must be a number, not a text; cli: is missing`. `whole` names what has no field; three problems are enough to begin. */
export const fieldsIn = (error: z.ZodError, whole: string): string => {
  const told = error.issues.map((i) =>
    i.path.length > 0 ? `${i.path.join('.')}: ${i.message}` : `${whole} ${i.message}`,
  );
  return told.length > 3 ? `${told.slice(0, 3).join('; ')}; and ${told.length - 3} more` : told.join('; ');
};

const kinds: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};
const kind = (expected: string): string => kinds[expected] ?? expected;
const kindOf = (input: unknown): string =>
  input === null ? 'null' : Array.isArray(input) ? 'a list' : kind(typeof input);

const counted: Record<string, string> = { string: 'characters', array: 'entries', set: 'entries' };

const tooSmall = (of: string, least: number, inclusive: boolean): string => {
  const what = counted[of];
  if (what !== undefined) return least === 1 ? 'must not be empty' : `must have at least ${least} ${what}`;
  return inclusive ? `must be at least ${least}` : `must be more than ${least}`;
};

const tooBig = (of: string, most: number, inclusive: boolean): string => {
  const what = counted[of];
  if (what !== undefined) return `must have at most ${most} ${what}`;
  return inclusive ? `must be at most ${most}` : `must be less than ${most}`;
};
