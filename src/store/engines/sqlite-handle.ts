/**
 * One open SQLite database with its prepared statements, kept by their text. Writers are durable at COMMIT (WAL with
 * synchronous=FULL: one fsync of the log per transaction); readers see a snapshot and never block a writer.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { Ran } from '../tx.ts';

export interface SqliteHandle {
  readonly db: DatabaseSync;
  run<R>(sql: string, parameters: readonly unknown[]): Ran<R>;
  /** Texts of all statements run so far: the conformance suite asks for their plans. */
  seen(): string[];
  close(): void;
}

/** Lists with many filters make many texts; beyond this the oldest are dropped. */
const keep = 500;

export const openSqlite = (file: string, mode: 'write' | 'read'): SqliteHandle => {
  const db = new DatabaseSync(file, { readOnly: mode === 'read', timeout: 5_000 });
  if (mode === 'write') {
    db.exec('PRAGMA journal_mode = WAL');
    db.exec('PRAGMA synchronous = FULL');
    // Checkpoints of 16 MB instead of 4: fewer page writes when hot pages change again and again.
    db.exec('PRAGMA wal_autocheckpoint = 4000');
  }
  // The operating system keeps the file's pages too: a larger cache of our own made nothing faster that was measured.
  db.exec(`PRAGMA cache_size = -${mode === 'write' ? 4_000 : 2_000}`);
  db.exec('PRAGMA temp_store = MEMORY');
  const prepared = new Map<string, { statement: StatementSync; answers: boolean }>();
  return {
    db,
    run(sql, parameters) {
      let p = prepared.get(sql);
      if (!p) {
        const statement = db.prepare(sql);
        p = { statement, answers: statement.columns().length > 0 };
        prepared.set(sql, p);
        if (prepared.size > keep) prepared.delete(prepared.keys().next().value!);
      }
      const bound = parameters as SQLInputValue[];
      if (p.answers) {
        const rows = p.statement.all(...bound) as never[];
        return { rows, changes: rows.length };
      }
      return { rows: [], changes: Number(p.statement.run(...bound).changes) };
    },
    seen: () => [...prepared.keys()],
    close: () => db.close(),
  };
};
