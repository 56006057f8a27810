/**
 * One process owns the files of a DROVER_HOME: a second small database is held in BEGIN EXCLUSIVE. The lock is the kernel's,
 * so it is gone with the process, however it ends, and no stale pid file can be believed.
 */
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Fault } from '../../contract/errors.ts';
import { sqliteFiles } from './sqlite-files.ts';

/** Primary result code SQLITE_BUSY. */
const busy = 5;

export const ownHome = (home: string): { release(): void } => {
  const file = sqliteFiles(home).owner;
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(file, { timeout: 0 });
    db.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    db?.close();
    if ((cause as { errcode?: number }).errcode === busy)
      throw new Fault(
        'not_ready',
        `another server runs on this DROVER_HOME (${home}). Stop it first, or set DROVER_HOME to another directory.`,
        { cause },
      );
    throw cannotOpen(file, cause);
  }
  const held = db;
  return { release: () => held.close() };
};

/** What to do, by SQLite's primary result code: a damaged file is not mended by free space, nor a full disk by a backup. */
const advice = (file: string, cause: unknown): string => {
  switch (((cause as { errcode?: number }).errcode ?? 0) & 0xff) {
    case 8:
      return `It is read-only. Make it writable for this user (chmod u+w ${file}).`;
    case 11:
    case 26:
      return `The file is damaged. Put a copy of it back (DROVER_HOME/backups has those made before an upgrade), or move it away with the files ${basename(file)}-wal and -shm to start without what it held.`;
    default:
      return 'DROVER_HOME needs to be a directory this user may write to, with free space.';
  }
};

/** For whichever file of the home: named, with what to do. */
export const cannotOpen = (file: string, cause: unknown): Fault =>
  cause instanceof Fault
    ? cause
    : new Fault('not_ready', `Cannot open ${file}: ${(cause as Error).message}. ${advice(file, cause)}`, { cause });
