import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { problemInWords } from './problem-words.ts';

const before = z.config();
beforeAll(() => void z.config({ customError: problemInWords }));
afterAll(() => void z.config({ customError: before.customError }));

const said = (schema: z.ZodType, value: unknown): string => schema.safeParse(value).error!.issues[0]!.message;

describe('what is wrong with a field', () => {
  it.each([
    [z.string(), undefined, 'is missing'],
    [z.string(), 5, 'must be a text, not a number'],
    [z.number(), 'x', 'must be a number, not a text'],
    [z.coerce.number(), 'abc', 'must be a number'],
    [z.number().int(), 1.5, 'must be a whole number, not a number'],
    [z.boolean(), null, 'must be true or false, not null'],
    [z.array(z.string()), {}, 'must be a list, not an object'],
    [z.record(z.string(), z.string()), [], 'must be an object, not a list'],
    [z.number().min(10), 3, 'must be at least 10'],
    [z.number().positive(), 0, 'must be more than 0'],
    [z.number().max(10), 11, 'must be at most 10'],
    [z.string().min(1), '', 'must not be empty'],
    [z.string().min(8), 'short', 'must have at least 8 characters'],
    [z.string().max(3), 'long', 'must have at most 3 characters'],
    [z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 entries'],
    [z.enum(['a', 'b']), 'c', 'must be one of a, b'],
    [z.literal('a'), 'c', 'must be a'],
    [z.url(), 'foo', 'must be a URL, such as http://127.0.0.1:9100'],
    [z.strictObject({}), { x: 1 }, 'knows no x'],
  ])('%# is said in words', (schema, value, words) => expect(said(schema, value)).toBe(words));

  it('keeps the words that a schema brings itself, and those of zod where there are none here', () => {
    expect(said(z.string({ error: 'needs a name' }), 5)).toBe('needs a name');
    expect(said(z.string().regex(/^a/), 'b')).toMatch(/Invalid string/);
  });
});
