/** Entry of a thread that lives for one backup: copies, looks the copies through, and ends. A bundle of its own in dist/server. */
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { contentOf, copySqlite, hashFile, syncDir, verifySqlite } from './sqlite-copy.ts';
import { sqliteFiles } from './sqlite-files.ts';
import { start } from './worker-loop.ts';

const { home, to } = workerData as { home: string; to: string };

start(parentPort!, () => {
  const files = sqliteFiles(home);
  // The rows first: a transcript may be ahead of its row, and a row is never ahead of what was said before it.
  const copies = (['main', 'logs'] as const).map((name) => {
    const copy = join(to, `${name === 'main' ? 'drover' : 'logs'}.db`);
    copySqlite(files[name], copy);
    verifySqlite(copy);
    return hashFile(copy, true);
  });
  syncDir(to);
  return { files: copies, ...contentOf(join(to, 'drover.db')) };
});
