/** Retry distance: doubles from `baseMs` to `maxMs`, spread by a hash of the id: different for each row, the same on replay. */
import { createHash } from 'node:crypto';

export const hashedBackoff = (id: string, attempt: number, baseMs = 5_000, maxMs = 300_000): number => {
  const whole = Math.min(maxMs, baseMs * 2 ** Math.max(0, attempt - 1));
  const spread = createHash('sha256').update(`${id}:${attempt}`).digest().readUInt32BE(0) / 2 ** 32;
  return Math.floor(whole * (0.5 + spread / 2));
};
