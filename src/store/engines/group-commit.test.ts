import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { anAgent, anEnqueue } from '../../../test/support/rows.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { migrateSqlite } from '../migrations/migrate-sqlite.ts';
import { groupCommit, type WriteOrder } from './group-commit.ts';
import { openSqlite, type SqliteHandle } from './sqlite-handle.ts';

let dir: string;
let handle: SqliteHandle;
let commit: ReturnType<typeof groupCommit>;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-group-'));
  handle = openSqlite(join(dir, 'drover.db'), 'write');
  migrateSqlite(handle.db, { backups: dir, now: 0 });
  commit = groupCommit(handle);
});
afterEach(() => {
  handle.close();
  rmSync(dir, { recursive: true, force: true });
});

const at = { now: 1_000, steady: 1_000 };
const agent: WriteOrder = {
  verb: 'create_agent',
  args: { ...at, agent: anAgent({ id: 'a', name: 'a' }) } as WriteOrder['args'],
};
const submit = (id: string, message = 'm'): WriteOrder => ({
  verb: 'enqueue',
  args: { ...at, ...anEnqueue({ id, agent_id: 'a' }, { agent_name: 'a', message }) } as WriteOrder['args'],
});
const stored = () => handle.run<{ id: string }>('select id from executions order by id', []).rows.map((row) => row.id);
const told = () =>
  handle.run<{ n: number }>('select count(*) as n from events where execution_id is not null', []).rows[0]?.n;

describe('a group of verbs', () => {
  /** A constraint that SQLite looks at in COMMIT itself: every verb has run well by then. */
  const failAtCommit = () =>
    handle.db.exec(`
      create table promised (id text primary key);
      create table owed (id text references promised deferrable initially deferred);
      create trigger owes after insert on executions when new.id = 'poison' begin insert into owed values (new.id); end`);

  it(
    verifies('R46')('whose commit fails is accepted by nobody: all are told of it, and the next group goes on'),
    async () => {
      await commit([agent]);
      failAtCommit();
      const group = await commit([submit('e1'), submit('poison'), submit('e2')]);
      expect(group.map((o) => o.ok)).toEqual([false, false, false]);
      for (const o of group) expect(o).toMatchObject({ error: { message: expect.stringMatching(/FOREIGN KEY/) } });
      expect(stored()).toEqual([]);
      expect(told()).toBe(0);
      expect(handle.db.isTransaction).toBe(false);
      // The same ids again: nothing of the first try is left, on disk or remembered.
      const next = await commit([submit('e1'), submit('e2')]);
      expect(next.map((o) => o.ok)).toEqual([true, true]);
      expect(stored()).toEqual(['e1', 'e2']);
      expect(told()).toBe(2);
    },
  );

  it(verifies('R46')('in which the file is full is accepted by nobody, also what was done before that'), async () => {
    await commit([agent]);
    const { rows } = handle.run<{ page_count: number }>('pragma page_count', []);
    handle.db.exec(`pragma max_page_count = ${rows[0]!.page_count + 4}`);
    const group = await commit([submit('e1'), submit('e2', 'x'.repeat(200_000)), submit('e3')]);
    expect(group.map((o) => o.ok)).toEqual([false, false, false]);
    for (const o of group) expect(o).toMatchObject({ error: { errcode: 13 } });
    expect(stored()).toEqual([]);
    expect(handle.db.isTransaction).toBe(false);
    handle.db.exec('pragma max_page_count = 100000');
    expect((await commit([submit('e1')])).map((o) => o.ok)).toEqual([true]);
    expect(stored()).toEqual(['e1']);
  });
});
