/**
 * What a backup says of itself: `manifest.json` beside its files, written last, so that a backup without one is not whole.
 * It also says what it does not hold, since that is asked when it is too late.
 */
import { z } from 'zod';

export const BackupManifest = z.object({
  format: z.literal(1),
  /** Name of its directory below DROVER_HOME/backups. */
  id: z.string(),
  created_at: z.string(),
  drover: z.string(),
  /** Of the main database. */
  schema: z.number().int(),
  files: z.array(z.object({ name: z.string(), bytes: z.number().int(), sha256: z.string() })),
  /** Executions in it, and how many of them had not ended: they go on after a restore. */
  executions: z.object({ total: z.number().int(), queued: z.number().int(), live: z.number().int() }),
  holds: z.array(z.string()),
  lacks: z.array(z.string()),
});
export type BackupManifest = z.infer<typeof BackupManifest>;

export const manifestName = 'manifest.json';

export const Backup = BackupManifest.extend({ path: z.string() });
export type Backup = z.infer<typeof Backup>;
export const NewBackup = z.object({
  /** Older whole backups beyond this many are deleted, once the new one is verified. */
  keep: z.number().int().min(1).max(1_000).optional(),
});
