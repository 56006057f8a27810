/**
 * Brings a SQLite file to the newest schema before anything else touches it, while its home is owned: each migration in one
 * exclusive transaction, after a verified copy of a file that already held something. A newer schema is refused: an older
 * program would write rows that the newer one forbids.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Fault } from '../../contract/errors.ts';
import { type Migration, migrations } from './list.ts';
import { sqliteWords } from './words.ts';

export const schemaVersion = (db: DatabaseSync): number => {
  const known = db.prepare("select 1 from sqlite_schema where type = 'table' and name = 'schema_version'").get();
  if (!known) return 0;
  return Number((db.prepare('select max(version) as v from schema_version').get() as { v: number | null }).v ?? 0);
};

interface MigrateOptions {
  backups: string;
  now: number;
  /** Given by tests only, to try a later step. */
  list?: readonly Migration[];
}

/** Returns the version reached and the copy that was made, if any. */
export const migrateSqlite = (
  db: DatabaseSync,
  options: MigrateOptions,
): { version: number; backup: string | null } => {
  const list = options.list ?? migrations;
  const found = schemaVersion(db);
  if (found > list.length)
    throw new Fault(
      'not_ready',
      `The database has schema ${found}, and this Drover knows up to ${list.length}. Start the newer Drover that wrote it, or restore a backup from ${options.backups}.`,
    );
  if (found === list.length) return { version: found, backup: null };
  const backup = found > 0 ? copyBefore(db, found, options) : null;
  for (let version = found; version < list.length; version++) {
    const migration = list[version]!;
    db.exec('BEGIN EXCLUSIVE');
    try {
      if (version === 0)
        db.exec(
          'CREATE TABLE schema_version (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
        );
      for (const statement of migration.statements(sqliteWords)) db.exec(statement);
      db.prepare('insert into schema_version (version, name, applied_at) values (?, ?, ?)').run(
        version + 1,
        migration.name,
        options.now,
      );
      db.exec('COMMIT');
    } catch (cause) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw new Fault(
        'not_ready',
        `Migration ${migration.name} failed and was taken back: ${(cause as Error).message}.${backup === null ? '' : ` The copy made before is ${backup}.`}`,
        { cause },
      );
    }
  }
  return { version: list.length, backup };
};

const copyBefore = (db: DatabaseSync, version: number, options: MigrateOptions): string => {
  mkdirSync(options.backups, { recursive: true, mode: 0o700 });
  const file = join(options.backups, `before-schema-${version + 1}-${options.now}.db`);
  if (existsSync(file)) rmSync(file);
  db.prepare('VACUUM INTO ?').run(file);
  return file;
};
