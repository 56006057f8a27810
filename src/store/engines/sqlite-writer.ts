/**
 * Entry of the writer's thread: owns the home, migrates, then runs the write verbs in groups. The only thread that writes the
 * main database. A bundle of its own in dist/server.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { migrateSqlite } from '../migrations/migrate-sqlite.ts';
import { groupCommit, type WriteOrder } from './group-commit.ts';
import { keepForEndings } from './keep-for-endings.ts';
import { sqliteFiles } from './sqlite-files.ts';
import { openSqlite, type SqliteHandle } from './sqlite-handle.ts';
import { cannotOpen, ownHome } from './sqlite-owner.ts';
import { serve, start } from './worker-loop.ts';

const { home } = workerData as { home: string };
const port = parentPort!;
let owned: { release(): void } | null = null;
let handle: SqliteHandle | null = null;

const opened = start(port, () => {
  const files = sqliteFiles(home);
  owned = ownHome(home);
  try {
    handle = openSqlite(files.main, 'write');
    const { version, backup } = migrateSqlite(handle.db, { backups: files.backups, now: Date.now() });
    return { schema: version, backup };
  } catch (error) {
    handle?.close();
    owned.release();
    throw cannotOpen(files.main, error);
  }
});

if (opened) {
  const commit = keepForEndings(groupCommit(handle!), sqliteFiles(home).ballast);
  serve<WriteOrder>(
    port,
    'text',
    async (batch) =>
      (await commit(batch)).map((o) =>
        o.ok ? { ok: true, a: { result: o.result, stirred: o.stirred, odd: o.odd } } : o,
      ),
    () => {
      handle!.close();
      owned!.release();
    },
  );
}
