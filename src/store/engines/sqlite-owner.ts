/**
 * One process owns the files of a DROVER_HOME: a second small database is held in BEGIN EXCLUSIVE. The lock is the kernel's,
 * so it is gone with the process, however it ends, and no stale pid file can be believed.
 */
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

export const cannotOpen = (file: string, cause: unknown): Fault =>
  cause instanceof Fault
    ? cause
    : new Fault(
        'not_ready',
        `Cannot open ${file}: ${(cause as Error).message}. DROVER_HOME needs to be a directory this user may write to, with free space.`,
        { cause },
      );
