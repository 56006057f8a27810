import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { migrations } from './list.ts';
import { migrateSqlite, schemaVersion } from './migrate-sqlite.ts';

let dir: string;
let db: DatabaseSync;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-migrate-'));
  db = new DatabaseSync(join(dir, 'x.db'));
});
afterEach(() => {
  db.close();
  rmSync(dir, { recursive: true, force: true });
});
const backups = () => join(dir, 'backups');

/** The schema as SQLite keeps it, one statement per line, white space made one. */
const dump = (): string =>
  (
    db
      .prepare("select sql from sqlite_schema where sql is not null and name not like 'sqlite_%' order by name")
      .all() as { sql: string }[]
  )
    .map((r) => `${r.sql.replace(/\s+/g, ' ')};\n`)
    .join('');

describe('migrations', () => {
  it(verifies('R48')('make exactly the committed schema'), () => {
    migrateSqlite(db, { backups: backups(), now: 1 });
    // After a new migration: node -e with this dump, reviewed, into the file.
    expect(dump()).toBe(readFileSync(new URL('./schema.sqlite.sql', import.meta.url), 'utf8'));
  });

  it('change nothing the second time', () => {
    expect(migrateSqlite(db, { backups: backups(), now: 1 })).toEqual({ version: migrations.length, backup: null });
    expect(migrateSqlite(db, { backups: backups(), now: 2 })).toEqual({ version: migrations.length, backup: null });
  });

  it(verifies('R48')('copy a database that holds something before they change it'), () => {
    migrateSqlite(db, { backups: backups(), now: 1 });
    db.exec("insert into settings (key, value, updated_at) values ('k', 'v', 1)");
    const list = [...migrations, { name: 'next-test', statements: () => ["update settings set value = 'changed'"] }];
    const { version, backup } = migrateSqlite(db, { backups: backups(), now: 7, list });
    expect(version).toBe(migrations.length + 1);
    const copy = new DatabaseSync(backup!, { readOnly: true });
    expect(copy.prepare('select value from settings').get()).toEqual({ value: 'v' });
    expect(schemaVersion(copy)).toBe(migrations.length);
    expect(db.prepare('select value from settings').get()).toEqual({ value: 'changed' });
    copy.close();
  });

  it('a step that fails is taken back whole, and names the copy', () => {
    migrateSqlite(db, { backups: backups(), now: 1 });
    const list = [
      ...migrations,
      { name: 'next-broken', statements: () => ['create table half (x integer)', 'create table half (x integer)'] },
    ];
    expect(() => migrateSqlite(db, { backups: backups(), now: 1, list })).toThrow(
      /next-broken failed and was taken back.*copy made before/,
    );
    expect(schemaVersion(db)).toBe(migrations.length);
    expect(db.prepare("select count(*) as n from sqlite_schema where name = 'half'").get()).toEqual({ n: 0 });
  });

  it(verifies('R48')('refuse a database that a newer program has written'), () => {
    migrateSqlite(db, { backups: backups(), now: 1 });
    db.exec("insert into schema_version (version, name, applied_at) values (99, 'later', 1)");
    expect(() => migrateSqlite(db, { backups: backups(), now: 1 })).toThrow(
      `schema 99, and this Drover knows up to ${migrations.length}.`,
    );
  });
});

describe('the schema forbids', () => {
  const row = (over: Record<string, string | number | null>) => {
    const r: Record<string, string | number | null> = {
      id: 'e1',
      agent_id: 'a',
      agent_name: 'a',
      kind: 'task',
      status: 'queued',
      triggered_by: 'api',
      class: 'batch',
      durable: 1,
      depth: 0,
      root_id: 'e1',
      session_id: 's',
      timeout_s: 1,
      max_retries: 0,
      queued_at: 1,
      since_at: 1,
      eligible_at: 1,
      lane: 'batch',
      ...over,
    };
    db.prepare(
      `insert into executions (${Object.keys(r).join(',')}) values (${Object.keys(r)
        .map(() => '?')
        .join(',')})`,
    ).run(...Object.values(r));
  };
  const ended = { lane: null, completed_at: 2 };
  const live = { lane: null, token: 't', runner_id: 'r', attempt_id: 't1' };
  const cases: [string, Record<string, string | number | null>][] = [
    ['a state that is none', { status: 'paused' }],
    ['an ending without its time', { status: 'success', cause: 'success', lane: null }],
    ['a time of ending on a row that has not ended', { completed_at: 1 }],
    ['an ending without a cause', { status: 'failed', ...ended }],
    ['a cause on a row that has not ended', { cause: 'crashed' }],
    ['a success with the cause of a failure', { status: 'success', cause: 'crashed', ...ended }],
    ['a failure that says success', { status: 'failed', cause: 'success', ...ended }],
    ['a cancelled row with another cause', { status: 'cancelled', cause: 'crashed', ...ended }],
    ['a token on a queued row', { token: 't' }],
    ['a running row without a token', { status: 'running', ...live, token: null }],
    ['a running row that nobody runs', { status: 'running', ...live, runner_id: null }],
    ['a running row that stands behind in its session', { status: 'running', ...live, behind: 1 }],
    ['a waiting row that does not know since when', { status: 'waiting', ...live }],
    ['not_before on a row that runs', { status: 'running', ...live, not_before: 1, ripe_at: 1 }],
    ['a lane that its state does not give', { lane: 'interactive' }],
    ['a row in a lane that stands behind', { behind: 1 }],
    ['nested work that nobody can wait for', { awaited: 1, lane: 'nested' }],
    ['a negative duration', { status: 'failed', cause: 'crashed', ...ended, duration_ms: -1 }],
  ];
  for (const [what, over] of cases)
    it(verifies('R6')(what), () => {
      migrateSqlite(db, { backups: backups(), now: 1 });
      expect(() => row(over)).toThrow(/constraint/i);
    });

  it(verifies('R6', 'R18')('two holders of one session, and allows the next one behind or after'), () => {
    migrateSqlite(db, { backups: backups(), now: 1 });
    row({});
    expect(() => row({ id: 'e2' })).toThrow(/UNIQUE/);
    expect(() => row({ id: 'e2', status: 'running', ...live })).toThrow(/UNIQUE/);
    row({ id: 'e2', behind: 1, lane: null });
    db.exec(
      "update executions set status = 'failed', cause = 'crashed', completed_at = 2, lane = null where id = 'e1'",
    );
    row({ id: 'e3' });
  });
});
