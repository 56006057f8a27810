/**
 * `logs.db`: what the agents' processes said, apart from the hot tables (R48), so that 5,000 lines a second never stand
 * before a claim. Runs in the worker of log-writer.ts. Entries of one attempt have sequence numbers 1, 2, 3, … without a
 * gap; they lie in chunks, since a row per line doubles the file. The caller owns the transaction.
 */

import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { Fault } from '../../contract/errors.ts';

export interface AppendLog {
  attempt_id: string;
  execution_id: string;
  first_seq: number;
  entries: string[];
  now: number;
}
export interface ReadLog {
  execution_id: string;
  /** Null: all attempts, one after the other; `after_seq` then counts for the first of them only. */
  attempt_id: string | null;
  after_seq: number;
  limit: number;
}
export interface LogPage {
  entries: { attempt: string; seq: number; entry: string }[];
  has_log: boolean;
  /** The answer was cut, by its limit or by its size: go on after its last entry. */
  more: boolean;
}

/** A chunk is read as a whole to give out one line of it; one line that is longer is a chunk of its own. */
const chunkBytes = 128 * 1024;
/** One answer carries at least one entry and no more than about this. */
const pageBytes = 4 * 1024 * 1024;
const schemaVersion = 1;

const schema = `
CREATE TABLE log (
  attempt_id TEXT PRIMARY KEY,
  execution_id TEXT NOT NULL,
  last_seq INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX log_by_execution ON log (execution_id, attempt_id);
CREATE INDEX log_by_age ON log (updated_at);
CREATE TABLE chunk (
  id INTEGER PRIMARY KEY,
  attempt_id TEXT NOT NULL,
  last_seq INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  body TEXT NOT NULL,
  CHECK (first_seq BETWEEN 1 AND last_seq)
) STRICT;
CREATE UNIQUE INDEX chunk_by_seq ON chunk (attempt_id, last_seq);
PRAGMA user_version = ${schemaVersion};
`;

export const openLogFile = (path: string) => {
  const db = new DatabaseSync(path, { timeout: 5_000 });
  // Before the first table: retention can then give room back to the file system.
  db.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  const { user_version: found } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  if (found > schemaVersion) {
    db.close();
    throw new Fault(
      'not_ready',
      `${path} was written by a newer Drover (schema ${found}, this one knows ${schemaVersion}). Start that version again.`,
    );
  }
  if (found === 0) db.exec(`BEGIN IMMEDIATE; ${schema} COMMIT`);

  const statement = (sql: string): StatementSync => db.prepare(sql);
  const lastSeq = statement('SELECT last_seq FROM log WHERE attempt_id = ?');
  const putLog = statement(
    `INSERT INTO log (attempt_id, execution_id, last_seq, updated_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (attempt_id) DO UPDATE SET last_seq = excluded.last_seq, updated_at = excluded.updated_at`,
  );
  const putChunk = statement('INSERT INTO chunk (attempt_id, first_seq, last_seq, body) VALUES (?, ?, ?, ?)');
  const attemptsOf = statement('SELECT attempt_id FROM log WHERE execution_id = ? ORDER BY attempt_id');
  const nextChunk = statement(
    'SELECT first_seq, last_seq, body FROM chunk WHERE attempt_id = ? AND last_seq > ? ORDER BY last_seq LIMIT 1',
  );
  const oldLogs = statement('SELECT attempt_id FROM log WHERE updated_at < ? ORDER BY updated_at LIMIT 1');
  const dropChunks = statement(
    'DELETE FROM chunk WHERE id IN (SELECT id FROM chunk WHERE attempt_id = ? ORDER BY last_seq LIMIT ?)',
  );
  const dropLog = statement('DELETE FROM log WHERE attempt_id = ?');

  const storedSeq = (attemptId: string): number =>
    (lastSeq.get(attemptId) as { last_seq: number } | undefined)?.last_seq ?? 0;

  return {
    db,
    storedSeq,
    /** The highest stored seq. Entries that are stored already are passed over; after a gap nothing is stored. */
    append(a: AppendLog): number {
      const stored = storedSeq(a.attempt_id);
      const skip = stored + 1 - a.first_seq;
      if (skip < 0 || skip >= a.entries.length) return stored;
      let seq = stored;
      let lines: string[] = [];
      let bytes = 0;
      const flush = () => {
        if (lines.length === 0) return;
        putChunk.run(a.attempt_id, seq - lines.length + 1, seq, lines.join('\n'));
        lines = [];
        bytes = 0;
      };
      for (const entry of a.entries.slice(skip)) {
        if (bytes + entry.length > chunkBytes) flush();
        // A line break in JSON text can only be white space between its parts.
        lines.push(entry.includes('\n') ? entry.replaceAll('\n', ' ') : entry);
        bytes += entry.length;
        seq++;
      }
      flush();
      putLog.run(a.attempt_id, a.execution_id, seq, a.now);
      return seq;
    },
    read(a: ReadLog): LogPage {
      const all = (attemptsOf.all(a.execution_id) as { attempt_id: string }[]).map((r) => r.attempt_id);
      const attempts = a.attempt_id === null ? all : all.filter((id) => id === a.attempt_id);
      const entries: LogPage['entries'] = [];
      let bytes = 0;
      for (const [index, attempt] of attempts.entries()) {
        let after = index === 0 ? a.after_seq : 0;
        for (;;) {
          const chunk = nextChunk.get(attempt, after) as
            | { first_seq: number; last_seq: number; body: string }
            | undefined;
          if (chunk === undefined) break;
          const lines = chunk.body.split('\n');
          for (let seq = Math.max(chunk.first_seq, after + 1); seq <= chunk.last_seq; seq++) {
            const entry = lines[seq - chunk.first_seq]!;
            if (entries.length >= a.limit || (entries.length > 0 && bytes + entry.length > pageBytes))
              return { entries, has_log: true, more: true };
            entries.push({ attempt, seq, entry });
            bytes += entry.length;
          }
          after = chunk.last_seq;
        }
      }
      return { entries, has_log: attempts.length > 0, more: false };
    },
    /** At most `max` chunks of logs that were last written before `before`. */
    drop(before: number, max: number): { deleted: number; more: boolean } {
      let deleted = 0;
      while (deleted < max) {
        const old = oldLogs.get(before) as { attempt_id: string } | undefined;
        if (old === undefined) return { deleted, more: false };
        const gone = Number(dropChunks.run(old.attempt_id, max - deleted).changes);
        deleted += gone;
        if (deleted < max) dropLog.run(old.attempt_id);
      }
      return { deleted, more: true };
    },
  };
};

export type LogFile = ReturnType<typeof openLogFile>;
