import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fieldsIn, inWords, problemInWords } from './problem-words.ts';

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
    [z.number().int(), 1.5, 'must be a whole number, not 1.5'],
    [z.number(), Number.POSITIVE_INFINITY, 'must be a number, not Infinity'],
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

  it('is said for one parse as well, each field with its name, three at most', () => {
    const row = z.object({ id: z.string(), a: z.number(), b: z.object({ c: z.array(z.string()) }), d: z.boolean() });
    const told = (value: unknown) => fieldsIn(row.safeParse(value, inWords).error!, 'the line');
    expect(told({ id: 5, a: 1, b: { c: ['x', 7] }, d: true })).toBe(
      'id: must be a text, not a number; b.c.1: must be a text, not a number',
    );
    expect(told({})).toBe('id: is missing; a: is missing; b: is missing; and 1 more');
    expect(told([])).toBe('the line must be an object, not a list');
  });
});
