/**
 * Opens the store of a home and gives the one page of verbs (store.ts): writes to the writer's thread, reads to the reader's,
 * log bodies to theirs. No SQL runs on the event loop. Fails with a Fault that says what to do.
 */
import { mkdirSync } from 'node:fs';
import { Fault } from '../contract/errors.ts';
import { type Log, silentLog } from '../kernel/log.ts';
import { openSqliteEngine } from './engines/sqlite-engine.ts';
import { openSqliteLogs } from './engines/sqlite-logs.ts';
import { lookForLoss } from './lost-files.ts';
import type { At, ReadVerbs, Store, WriteVerbs, Written } from './store.ts';

interface OpenOptions {
  home: string;
  log?: Log;
}

export const openStore = async ({ home, log = silentLog }: OpenOptions): Promise<Store> => {
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
  for (const loss of lookForLoss(home)) log.warn(loss);
  const engine = await openSqliteEngine(home, log);
  if (engine.backup !== null) log.info('the database was migrated; a copy was made before', { copy: engine.backup });
  const logs = await openSqliteLogs(home, log).catch(async (error) => {
    await engine.close();
    throw error;
  });
  /** A log is as old as its last line: it goes when an execution that ended then would go. */
  const retain = async (args: WriteVerbs['retain'][0] & At): Promise<Written<'retain'>> => {
    const rows = (await engine.write('retain', args)) as Written<'retain'>;
    const bodies = await logs.drop({ before: args.executions_before, max: args.max });
    const { deleted, more } = rows.result;
    return { ...rows, result: { deleted: deleted + bodies.deleted, more: more || bodies.more } };
  };
  // Reads see the time of the newest write: the sweeps write every second, and no clock is read here.
  let latest: At = { now: 0, steady: 0 };
  let writes = 0;

  return {
    writes: () => writes,
    write: async <V extends keyof WriteVerbs>(verb: V, args: WriteVerbs[V][0] & At) => {
      if (args.steady > latest.steady) latest = { now: args.now, steady: args.steady };
      try {
        return verb === 'retain'
          ? ((await retain(args as WriteVerbs['retain'][0] & At)) as Written<V>)
          : ((await engine.write(verb, args)) as Written<V>);
      } finally {
        writes++;
      }
    },
    read: async <V extends keyof ReadVerbs>(verb: V, args: ReadVerbs[V][0]) => {
      if (verb === 'log') return logs.log(args as ReadVerbs['log'][0]) as Promise<ReadVerbs[V][1]>;
      if (verb === 'stored_seq') return logs.storedSeq(args as ReadVerbs['stored_seq'][0]) as Promise<ReadVerbs[V][1]>;
      return engine.read(verb, args, latest) as Promise<ReadVerbs[V][1]>;
    },
    appendLog: async (args) => logs.append(args),
    backUp: (to) => engine.backUp(to),
    async close() {
      await logs.close();
      await engine.close();
    },
  };
};
