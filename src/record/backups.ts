/**
 * Backups of the store below DROVER_HOME/backups, one directory each: made while work goes on, verified, and whole only with
 * the manifest that is written last. One at a time. A backup that failed leaves nothing behind.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Backup, BackupManifest, manifestName } from '../contract/backup.ts';
import { backupHolds, backupLacks } from '../contract/backup-words.ts';
import { Fault, type Refusal, refuse } from '../contract/errors.ts';
import { version } from '../contract/version.ts';
import type { Deps } from '../flow/deps.ts';

const backupsDir = (home: string) => join(home, 'backups');

export const readBackup = (path: string): Backup | null => {
  const file = join(path, manifestName);
  if (!existsSync(file)) return null;
  try {
    return { ...BackupManifest.parse(JSON.parse(readFileSync(file, 'utf8'))), path };
  } catch {
    // Not ours, or of a later format: nothing is said of it here, and `drover restore` names it.
    return null;
  }
};

/** Whole ones, newest first. */
export const listBackups = (home: string): Backup[] => {
  const dir = backupsDir(home);
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .map((name) => readBackup(join(dir, name)))
    .filter((b) => b !== null)
    .sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
};

const sizeOf = (home: string): number =>
  ['drover.db', 'drover.db-wal', 'logs.db', 'logs.db-wal']
    .map((name) => statSync(join(home, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((a, b) => a + b, 0);

/** A clock may be set back, and come by the same millisecond twice: what stands is never written over. */
const freeId = (dir: string, wanted: string): string => {
  let id = wanted;
  for (let n = 2; existsSync(join(dir, id)); n++) id = `${wanted}-${n}`;
  return id;
};

let making = false;

export const makeBackup = async (
  deps: Pick<Deps, 'config' | 'kernel' | 'store'>,
  keep: number | null,
): Promise<Backup | Refusal> => {
  if (making) return refuse('conflict', 'A backup is being made. Wait for it: GET /api/backups.');
  making = true;
  const { home } = deps.config;
  const now = new Date(deps.kernel.clock.now());
  const id = freeId(backupsDir(home), now.toISOString().replaceAll(/[:.]/g, '-'));
  const path = join(backupsDir(home), id);
  const unfinished = `${path}.unfinished`;
  try {
    mkdirSync(unfinished, { recursive: true, mode: 0o700 });
    // Of a server that was killed while it made one.
    for (const name of readdirSync(backupsDir(home)))
      if (name.endsWith('.unfinished') && name !== `${id}.unfinished`)
        rmSync(join(backupsDir(home), name), { recursive: true });
    const { bavail, bsize } = statfsSync(unfinished);
    if (sizeOf(home) > bavail * bsize)
      throw new Fault(
        'store_failed',
        `A backup needs up to ${sizeOf(home)} bytes beside the database, and the disk has ${bavail * bsize} free. Delete old ones in ${backupsDir(home)} (drover backup --keep N does so after the next), or free some space.`,
        // Only owners make backups: they may know where.
        { shown: true },
      );
    const { files, schema, executions } = await deps.store.backUp(unfinished);
    const manifest: BackupManifest = {
      format: 1,
      id,
      created_at: now.toISOString(),
      drover: version,
      schema,
      files,
      executions,
      holds: backupHolds,
      lacks: backupLacks,
    };
    writeFileSync(join(unfinished, manifestName), `${JSON.stringify(manifest, null, 2)}\n`, {
      mode: 0o600,
      flush: true,
    });
    renameSync(unfinished, path);
    if (keep !== null) for (const old of listBackups(home).slice(keep)) rmSync(old.path, { recursive: true });
    return { ...manifest, path };
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
    making = false;
  }
};
