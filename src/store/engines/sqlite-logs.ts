/**
 * The server's side of `logs.db`, as promises. The file has a thread of its own (log-writer.ts), so that neither the event
 * loop nor a claim ever waits for a line of a log.
 */
import type { Log } from '../../kernel/log.ts';
import type { LogBodies } from '../log-bodies.ts';
import type { LogPage } from './log-file.ts';
import type { LogOrder } from './log-writer.ts';
import { sqliteFiles } from './sqlite-files.ts';
import { openChannel } from './worker-channel.ts';
import { workerUrl } from './worker-url.ts';

export const openSqliteLogs = async (home: string, log: Log): Promise<LogBodies> => {
  const path = sqliteFiles(home).logs;
  const channel = await openChannel<LogOrder>(workerUrl('log-writer', import.meta.url), { path }, 'clone', log);
  return {
    append: (args) => channel.ask({ call: 'append', args }) as Promise<number>,
    log: (args) => channel.ask({ call: 'read', args }) as Promise<LogPage>,
    storedSeq: (args) => channel.ask({ call: 'stored_seq', args }) as Promise<number>,
    drop: (args) => channel.ask({ call: 'drop', args }) as Promise<{ deleted: number; more: boolean }>,
    close: () => channel.close(),
  };
};
