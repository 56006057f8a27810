/**
 * The real SQLite store of a simulated installation, without its threads: what waits is committed as one group, as in the
 * writer's thread. The disk may be quick, slow (nothing is committed until `flush`) or full (every batch fails whole). A write
 * of a process that died meanwhile is on disk or not, by chance, and is answered to nobody.
 *
 * One database file serves all histories of a process, emptied in between: opening one costs more than a whole history.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fault } from '../../src/contract/errors.ts';
import { groupCommit, type WriteOrder } from '../../src/store/engines/group-commit.ts';
import { readSnapshot } from '../../src/store/engines/read-snapshot.ts';
import { openSqlite } from '../../src/store/engines/sqlite-handle.ts';
import { migrateSqlite } from '../../src/store/migrations/migrate-sqlite.ts';
import { forget, mayHaveChanged } from '../../src/store/remembered.ts';
import type { At, ReadVerbs, Store, WriteVerbs } from '../../src/store/store.ts';
import type { Chance } from './chance.ts';

type Mood = 'quick' | 'slow' | 'full';

interface Asked {
  order: WriteOrder;
  alive(): boolean;
  answer(outcome: Awaited<ReturnType<ReturnType<typeof groupCommit>>>[number]): void;
}

export interface Disk {
  home: string;
  mood: Mood;
  /** Rows that could not be healed, as the store told them. */
  odd: string[];
  /** The store as one process has it; `alive` false = it hears nothing any more. */
  storeOf(alive: () => boolean): Store;
  /** Commits what waits on a slow disk. */
  flush(): Promise<void>;
  /** What a dead process had asked for: done or not, by chance. */
  afterDeath(chance: Chance): Promise<void>;
  rows<R>(sql: string): R[];
  /** Nothing in it, as after the first start. */
  empty(): void;
  end(): void;
}

export const openDisk = (): Disk => {
  const home = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'drover-sim-'));
  const writer = openSqlite(join(home, 'sim.db'), 'write');
  writer.db.exec('PRAGMA synchronous = OFF');
  migrateSqlite(writer.db, { backups: home, now: 0 });
  const reader = openSqlite(join(home, 'sim.db'), 'read');
  const commit = groupCommit(writer);
  const read = readSnapshot(reader);
  const tables = (
    writer.db.prepare("select name from sqlite_schema where type = 'table'").all() as { name: string }[]
  ).flatMap(({ name }) => (name === 'schema_version' ? [] : [name]));

  let queue: Asked[] = [];
  let busy = false;
  let latest: At = { now: 0, steady: 0 };
  let answered = 0;
  let lastRead: Promise<unknown> = Promise.resolve();

  const work = async () => {
    if (busy) return;
    busy = true;
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      const outcomes = await commit(batch.map((a) => a.order));
      for (const [i, o] of outcomes.entries()) {
        if (o.ok) disk.odd.push(...o.odd);
        batch[i]!.answer(o);
      }
    }
    busy = false;
  };

  const write = <V extends keyof WriteVerbs>(alive: () => boolean, verb: V, args: WriteVerbs[V][0] & At) =>
    new Promise<never>((resolve, reject) => {
      if (!alive()) return;
      latest = { now: args.now, steady: Math.max(latest.steady, args.steady) };
      if (disk.mood === 'full') return reject(new Fault('store_failed', 'database or disk is full'));
      queue.push({
        order: { verb, args },
        alive,
        answer: (o) => {
          answered++;
          if (!alive()) return;
          if (o.ok) resolve({ result: o.result, stirred: o.stirred } as never);
          else reject(o.error);
        },
      });
      if (disk.mood === 'quick') void work();
    });

  const disk: Disk = {
    home,
    mood: 'quick',
    odd: [],
    storeOf: (alive) => ({
      writes: () => answered,
      write: (verb, args) => write(alive, verb, args),
      // One after the other, as in the reader's thread.
      read: <V extends keyof ReadVerbs>(verb: V, args: ReadVerbs[V][0]) =>
        new Promise<ReadVerbs[V][1]>((resolve, reject) => {
          lastRead = lastRead.then(async () => {
            try {
              const found = (await read({ verb, args, at: latest })) as ReadVerbs[V][1];
              if (alive()) resolve(found);
            } catch (error) {
              if (alive()) reject(error);
            }
          });
        }),
      appendLog: async () => 0,
      backUp: () => Promise.reject(new Error('no history makes a backup')),
      close: async () => {},
    }),
    flush: work,
    async afterDeath(chance) {
      queue = queue.filter((a) => a.alive() || chance.once(2));
      if (disk.mood !== 'full') await work();
    },
    rows: (sql) => writer.run<never>(sql, []).rows,
    empty() {
      for (const t of tables) writer.db.exec(`delete from ${t}`);
      forget(writer);
      forget(reader);
      mayHaveChanged(writer);
      queue = [];
      disk.odd = [];
      disk.mood = 'quick';
    },
    end() {
      reader.close();
      writer.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
  return disk;
};
