/**
 * The SQLite engine without its threads, for the suite: the same group commit, the same handles, one file. The threads around
 * them have tests of their own (open.test.ts).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { groupCommit } from '../engines/group-commit.ts';
import { readSnapshot } from '../engines/read-snapshot.ts';
import { openSqlite } from '../engines/sqlite-handle.ts';
import { migrateSqlite } from '../migrations/migrate-sqlite.ts';
import type { At, ReadVerbs, Stirred, WriteVerbs, Written } from '../store.ts';
import type { EngineUnderTest } from './engine.ts';

export const sqliteInProcess = async (): Promise<EngineUnderTest> => {
  const dir = mkdtempSync(join(tmpdir(), 'drover-store-'));
  const writer = openSqlite(join(dir, 'drover.db'), 'write');
  // The disk's truth is not what these tests look at: no fsync makes thousands of commits cheap.
  writer.db.exec('PRAGMA synchronous = OFF');
  migrateSqlite(writer.db, { backups: dir, now: 0 });
  const reader = openSqlite(join(dir, 'drover.db'), 'read');
  const commit = groupCommit(writer);
  const read = readSnapshot(reader);
  let latest: At = { now: 0, steady: 0 };
  const plansOf = (handle: typeof writer, table: string) =>
    handle
      .seen()
      .filter((sql) => /^\s*(select|insert|update|delete|with)/i.test(sql) && sql.includes(table))
      .map((sql) => ({
        sql,
        plan: (handle.db.prepare(`explain query plan ${sql}`).all() as { detail: string }[]).map((p) => p.detail),
      }));
  return {
    async write<V extends keyof WriteVerbs>(verb: V, args: WriteVerbs[V][0] & At) {
      latest = { now: args.now, steady: args.steady };
      const [o] = await commit([{ verb, args }]);
      if (!o!.ok) throw o!.error;
      return { result: o!.result, stirred: o!.stirred as Stirred } as Written<V>;
    },
    read: <V extends keyof ReadVerbs>(verb: V, args: ReadVerbs[V][0]) =>
      read({ verb, args, at: latest }) as Promise<ReadVerbs[V][1]>,
    async together(orders) {
      for (const o of await commit(orders)) if (!o.ok) throw o.error;
    },
    async wholeTableReads(table) {
      return [...plansOf(writer, table), ...plansOf(reader, table)].filter(({ sql, plan }) => {
        // A plan calls a table by its alias.
        const alias = new RegExp(`"?${table}"?\\s+(?:as\\s+)?"?(\\w+)"?`, 'gi');
        const names = [table, ...[...sql.matchAll(alias)].map((m) => m[1]!)];
        const scan = new RegExp(`^SCAN (${names.join('|')})\\b`);
        // All rows of one state, sorted: reads the whole queue. An equality on a state tempts SQLite to it.
        const sorts = plan.some((p) => p.includes('TEMP B-TREE'));
        return plan.some((p) => scan.test(p) || (sorts && /executions_status \(status=\?\)$/.test(p)));
      });
    },
    plant: async (sql) => writer.db.exec(sql),
    breakRow: async (id) =>
      writer.db.exec(
        `create trigger odd_${id} before update on executions when old.id = '${id}' begin select raise(abort, 'odd'); end`,
      ),
    async end() {
      reader.close();
      writer.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
};
