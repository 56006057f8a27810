/** An agent's own limit for silence. Null = the limits by kind (contract/limits.ts); 0 = none. */
import type { Words } from './words.ts';

export const stall = (w: Words): string[] => [`ALTER TABLE agents ADD COLUMN stall_s ${w.int} CHECK (stall_s >= 0)`];
