/** Entry of the reader's thread: a read-only handle of its own, so that lists never wait for a write. A bundle of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { type ReadOrder, readSnapshot } from './read-snapshot.ts';
import { sqliteFiles } from './sqlite-files.ts';
import { openSqlite, type SqliteHandle } from './sqlite-handle.ts';
import { type Reply, serve, start } from './worker-loop.ts';

const { home } = workerData as { home: string };
const port = parentPort!;
let handle: SqliteHandle | null = null;

const opened = start(port, () => {
  handle = openSqlite(sqliteFiles(home).main, 'read');
  return {};
});

if (opened) {
  const read = readSnapshot(handle!);
  serve<ReadOrder>(
    port,
    'text',
    async (batch) => {
      const replies: Reply[] = [];
      for (const order of batch)
        replies.push(
          await read(order).then(
            (a): Reply => ({ ok: true, a }),
            (error): Reply => ({ ok: false, error }),
          ),
        );
      return replies;
    },
    () => handle!.close(),
  );
}
