/** The SQLite engine as the event loop sees it: two threads behind two channels. Nothing here touches a database. */
import type { Log } from '../../kernel/log.ts';
import type { At, StoreCopy } from '../store.ts';
import type { WriteOrder } from './group-commit.ts';
import type { ReadOrder } from './read-snapshot.ts';
import { openChannel } from './worker-channel.ts';
import { workerUrl } from './worker-url.ts';

interface Engine {
  readonly schema: number;
  /** The copy that was made before a migration, if there was one. */
  readonly backup: string | null;
  write(verb: string, args: At): Promise<unknown>;
  read(verb: string, args: unknown, at: At): Promise<unknown>;
  backUp(to: string): Promise<StoreCopy>;
  close(): Promise<void>;
}

export const openSqliteEngine = async (home: string, log: Log): Promise<Engine> => {
  // The writer first: it owns the home and makes the file the reader opens.
  const writer = await openChannel<WriteOrder>(workerUrl('sqlite-writer', import.meta.url), { home }, 'text', log);
  const reader = await openChannel<ReadOrder>(workerUrl('sqlite-reader', import.meta.url), { home }, 'text', log).catch(
    async (error) => {
      await writer.close();
      throw error;
    },
  );
  return {
    schema: writer.info.schema as number,
    backup: writer.info.backup as string | null,
    async write(verb, args) {
      const { odd, ...written } = (await writer.ask({ verb, args })) as { odd: string[] };
      for (const error of odd) log.error('a row could not be healed; the others were', { verb, error });
      return written;
    },
    read: (verb, args, at) => reader.ask({ verb, args, at }),
    async backUp(to) {
      const copier = await openChannel(workerUrl('sqlite-backup', import.meta.url), { home, to }, 'text', log);
      await copier.close();
      return copier.info as unknown as StoreCopy;
    },
    async close() {
      await reader.close();
      await writer.close();
    },
  };
};
