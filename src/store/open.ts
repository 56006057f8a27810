/**
 * Opens the store of a home and gives the one page of verbs (store.ts): writes to the writer's thread, reads to the reader's,
 * log bodies to theirs. No SQL runs on the event loop. Fails with a Fault that says what to do.
 */
import { mkdirSync } from 'node:fs';
import { Fault } from '../contract/errors.ts';
import { type Log, silentLog } from '../kernel/log.ts';
import { openSqliteEngine } from './engines/sqlite-engine.ts';
import type { LogBodies } from './log-bodies.ts';
import type { At, ReadVerbs, Store, WriteVerbs, Written } from './store.ts';

export interface OpenOptions {
  home: string;
  log?: Log;
  /** Opens the log bodies; without it, logs answer with a Fault. */
  openLogs?: (home: string, log: Log) => Promise<LogBodies>;
}

export const openStore = async ({ home, log = silentLog, openLogs }: OpenOptions): Promise<Store> => {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new Fault(
      'not_ready',
      `Cannot make ${home}: ${(cause as Error).message}. Set DROVER_HOME to a writable directory.`,
      {
        cause,
      },
    );
  }
  const engine = await openSqliteEngine(home, log);
  if (engine.backup !== null) log.info('the database was migrated; a copy was made before', { copy: engine.backup });
  const logs = openLogs
    ? await openLogs(home, log).catch(async (error) => {
        await engine.close();
        throw error;
      })
    : null;
  const bodies = (): LogBodies => {
    if (!logs) throw new Fault('not_ready', 'This store was opened without log bodies.');
    return logs;
  };
  // Reads see the time of the newest write: the sweeps write every second, and no clock is read here.
  let latest: At = { now: 0, steady: 0 };

  return {
    write: <V extends keyof WriteVerbs>(verb: V, args: WriteVerbs[V][0] & At) => {
      if (args.steady > latest.steady) latest = { now: args.now, steady: args.steady };
      return engine.write(verb, args) as Promise<Written<V>>;
    },
    read: async <V extends keyof ReadVerbs>(verb: V, args: ReadVerbs[V][0]) => {
      if (verb === 'log') return bodies().log(args as ReadVerbs['log'][0]) as Promise<ReadVerbs[V][1]>;
      if (verb === 'stored_seq')
        return bodies().storedSeq(args as ReadVerbs['stored_seq'][0]) as Promise<ReadVerbs[V][1]>;
      return engine.read(verb, args, latest) as Promise<ReadVerbs[V][1]>;
    },
    appendLog: async (args) => bodies().append(args),
    async close() {
      await logs?.close();
      await engine.close();
    },
  };
};
