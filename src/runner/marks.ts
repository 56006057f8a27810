/**
 * What is kept of a secret so that it can be hidden by a runner that never had it: the spool may not hold the value, yet a
 * restarted runner reads output in which it may stand. A mark is a length, a rolling sum that finds candidates in one pass,
 * and a salted hash that decides. Nothing can be read back from it.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';

export const Mark = z.object({
  chars: z.number().int().min(1),
  sum: z.number().int(),
  salt: z.string(),
  hash: z.string(),
});
export type Mark = z.infer<typeof Mark>;

/** FNV's prime: spreads characters over 32 bits, and 32-bit products are exact by `Math.imul`. */
const base = 16_777_619;
const add = (sum: number, char: number): number => (Math.imul(sum, base) + char) >>> 0;
const hashOf = (salt: string, text: string): string =>
  createHash('sha256').update(salt).update(text).digest('base64url');

export const markOf = (secret: string, salt: string): Mark => {
  let sum = 0;
  for (let i = 0; i < secret.length; i++) sum = add(sum, secret.charCodeAt(i));
  return { chars: secret.length, sum, salt, hash: hashOf(salt, secret) };
};

/** Every place where the marked text stands, replaced. */
export const hideMarked = (text: string, { chars, sum, salt, hash }: Mark, by: string): string => {
  if (text.length < chars) return text;
  let power = 1;
  for (let i = 0; i < chars; i++) power = Math.imul(power, base);
  let out = '';
  let kept = 0;
  let rolling = 0;
  for (let i = 0; i < text.length; i++) {
    rolling = add(rolling, text.charCodeAt(i));
    const from = i + 1 - chars;
    if (from > 0) rolling = (rolling - Math.imul(power, text.charCodeAt(from - 1))) >>> 0;
    if (rolling !== sum || from < kept || hashOf(salt, text.slice(from, i + 1)) !== hash) continue;
    out += text.slice(kept, from) + by;
    kept = i + 1;
  }
  return kept === 0 ? text : out + text.slice(kept);
};
