/**
 * Small JSON records on the runner's disk that another runner must find whole: written beside, synced, then renamed. All
 * synchronous, for those who must not be interrupted between a record and what it announces (a spawn, a signal). Facts, which
 * may meet a full disk, go through durable-file.ts.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { z } from 'zod';

/** Null when the file is missing or not one of ours (a crash of the host may leave half of one). */
export const readRecord = <T>(path: string, schema: z.ZodType<T>): T | null => {
  try {
    return schema.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data ?? null;
  } catch {
    return null;
  }
};

export const writeRecord = (path: string, value: unknown): void => {
  writeFileSync(`${path}.tmp`, JSON.stringify(value), { mode: 0o600, flush: true });
  renameSync(`${path}.tmp`, path);
};
