/**
 * The launcher's files in an attempt's directory, by which a restarted runner finds everything again. `held.json` is written
 * twice: before the spawn with the cgroup and the counters (so that whatever happens next can be cleaned up), and after it
 * with the proof of life. The environment is never among them.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { MemoryFacts, SpawnError } from '../../contract/facts.ts';
import { ProofOfLife } from '../../contract/runner-protocol.ts';
import { readRecord } from '../record-file.ts';
import { Leaf } from './cgroup-leaf.ts';
import type { ExitRecord } from './launcher.ts';

export const HeldRecord = z.object({
  version: z.literal(1),
  attempt: z.string(),
  proof: ProofOfLife.nullable(),
  /** Whom the order was given to: while this holder lives, what it does not know was never started. */
  holder: ProofOfLife.nullish(),
  started_at: z.number().int().nullable(),
  held_by: MemoryFacts.shape.held_by,
  leaf: Leaf.nullable(),
  memory_bytes: z.number().int().nullable(),
  oom_kills_before: z.number().int().nullable(),
  host_oom_kills_before: z.number().int().nullable(),
});
export type HeldRecord = z.infer<typeof HeldRecord>;

const Exit = z.object({
  exit_code: z.number().int().nullable(),
  signal: z.string().nullable(),
  at: z.number().int(),
  spawn_error: SpawnError.nullable(),
});

export const TornRecord = z.object({ memory: MemoryFacts, stragglers: z.number().int() });
export type TornRecord = z.infer<typeof TornRecord>;

export const files = (dir: string) => ({
  stdin: join(dir, 'stdin'),
  stdout: join(dir, 'stdout'),
  stderr: join(dir, 'stderr'),
  held: join(dir, 'held.json'),
  stop: join(dir, 'stop.json'),
  exit: join(dir, 'exit.json'),
  torn: join(dir, 'torn.json'),
});

export const readHeld = (dir: string): HeldRecord | null => readRecord(files(dir).held, HeldRecord);
export const readExit = (dir: string): ExitRecord | null => readRecord(files(dir).exit, Exit);
