/**
 * A copy of a SQLite file: made while others write, looked through, hashed, on disk. Used by a backup and by the restore of
 * one; knows no server. VACUUM INTO reads one snapshot and blocks no writer; SQLite's backup calls would start again at every
 * write of another connection, and on a busy fleet never end.
 */
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Fault } from '../../contract/errors.ts';
import { schemaVersion } from '../migrations/migrate-sqlite.ts';
import type { CopiedFile } from '../store.ts';

export const copySqlite = (from: string, to: string): void => {
  const db = new DatabaseSync(from, { readOnly: true, timeout: 5_000 });
  try {
    db.prepare('VACUUM INTO ?').run(to);
  } finally {
    db.close();
  }
};

/** Throws a Fault when the file is not a whole database, or rows of it refer to nothing. */
export const verifySqlite = (file: string): void => {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const { integrity_check: found } = db.prepare('PRAGMA integrity_check(1)').get() as { integrity_check: string };
    if (found !== 'ok') throw new Fault('store_failed', `${file} is not a whole database: ${found}.`);
    if (db.prepare('PRAGMA foreign_key_check').get() !== undefined)
      throw new Fault('store_failed', `${file} holds rows that refer to rows that are not there.`);
  } catch (cause) {
    throw cause instanceof Fault
      ? cause
      : new Fault('store_failed', `${file} is not a whole database: ${(cause as Error).message}.`, { cause });
  } finally {
    db.close();
  }
};

/** In pieces, since a database may be larger than the memory. `sync`: also puts it on disk. */
export const hashFile = (file: string, sync = false): CopiedFile => {
  const hash = createHash('sha256');
  const fd = openSync(file, sync ? 'r+' : 'r');
  try {
    const piece = Buffer.alloc(1 << 20);
    for (let n = readSync(fd, piece); n > 0; n = readSync(fd, piece)) hash.update(piece.subarray(0, n));
    if (sync) fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return { name: basename(file), bytes: statSync(file).size, sha256: hash.digest('hex') };
};

/** A directory's own entries are on disk only after this. */
export const syncDir = (dir: string): void => {
  const fd = openSync(dir, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
};

/** Schema and executions of a copy of the main database. */
export const contentOf = (file: string) => {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const count = (where: string) =>
      (db.prepare(`SELECT count(*) AS n FROM executions WHERE ${where}`).get() as { n: number }).n;
    return {
      schema: schemaVersion(db),
      executions: {
        total: count('true'),
        queued: count("status = 'queued'"),
        live: count("status IN ('running', 'waiting')"),
      },
    };
  } finally {
    db.close();
  }
};
