import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { silentLog } from '../../kernel/log.ts';
import type { LogBodies } from '../log-bodies.ts';
import type { LogOrder } from './log-writer.ts';
import { openSqliteLogs } from './sqlite-logs.ts';
import type { FromWorker, ToWorker } from './worker-channel.ts';

let dir: string;
let path: string;
let store: LogBodies;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'drover-log-'));
  path = join(dir, 'logs.db');
  store = await openSqliteLogs(dir, silentLog);
});
afterEach(async () => {
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => JSON.stringify({ n: from + i }));
const append = (
  first_seq: number,
  entries: string[],
  over: { attempt?: string; execution?: string; now?: number } = {},
) =>
  store.append({
    attempt_id: over.attempt ?? 'a1',
    execution_id: over.execution ?? 'e1',
    first_seq,
    entries,
    now: over.now ?? 1000,
  });
const read = (over: { attempt_id?: string | null; after_seq?: number; limit?: number; execution_id?: string } = {}) =>
  store.log({ execution_id: 'e1', attempt_id: 'a1', after_seq: 0, limit: 1000, ...over });
const seqs = async (...args: Parameters<typeof read>) => (await read(...args)).entries.map((e) => e.seq);

describe('the log store', () => {
  it(verifies('R34')('answers a repeat, whole or in part, with the same seq and stores nothing twice'), async () => {
    expect(await append(1, lines(1, 3))).toBe(3);
    expect(await append(1, lines(1, 3))).toBe(3);
    expect(await append(2, lines(2, 5))).toBe(5);
    expect((await read()).entries.map((e) => JSON.parse(e.entry).n)).toEqual([1, 2, 3, 4, 5]);
    expect(await store.storedSeq({ attempt_id: 'a1' })).toBe(5);
    expect(await store.storedSeq({ attempt_id: 'unknown' })).toBe(0);
  });

  it('stores nothing after a gap and says from where to send again', async () => {
    await append(1, lines(1, 2));
    expect(await append(4, lines(4, 6))).toBe(2);
    expect(await seqs()).toEqual([1, 2]);
    expect(await append(3, lines(3, 6))).toBe(6);
  });

  it('keeps what it answered over a reopen', async () => {
    await append(1, lines(1, 400));
    await store.close();
    store = await openSqliteLogs(dir, silentLog);
    expect(await store.storedSeq({ attempt_id: 'a1' })).toBe(400);
    expect(await seqs({ after_seq: 398 })).toEqual([399, 400]);
  });

  it(verifies('R46')('commits many appends that wait as one, and each stays its own'), async () => {
    const stored = await Promise.all(
      Array.from({ length: 300 }, (_, i) => append(1, lines(1, 4), { attempt: `a${i}`, execution: `e${i}` })),
    );
    expect(stored.every((s) => s === 4)).toBe(true);
    // A transaction writes each page it touched once into the journal: one by one it would be 300 times several pages.
    const pages = (statSync(`${path}-wal`).size - 32) / 4120;
    expect(pages).toBeLessThan(300);
  });

  it('gives out pages that go on where the last one ended', async () => {
    await append(1, lines(1, 25));
    expect(await seqs({ limit: 10 })).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(await seqs({ after_seq: 20, limit: 10 })).toEqual([21, 22, 23, 24, 25]);
    expect((await read({ after_seq: 25 })).entries).toEqual([]);
  });

  it('bounds an answer by size, yet always gives one entry', async () => {
    const big = JSON.stringify('x'.repeat(3 * 1024 * 1024));
    await append(1, [big, big, big]);
    expect(await read()).toMatchObject({ entries: [{ seq: 1 }], more: true });
    expect(await read({ after_seq: 1 })).toMatchObject({ entries: [{ seq: 2 }], more: true });
    expect(await read({ after_seq: 2 })).toMatchObject({ entries: [{ seq: 3 }], more: false });
  });

  it('gives the attempts of an execution one after the other, and says whether there is a log at all', async () => {
    await append(1, lines(1, 2), { attempt: 'a1' });
    await append(1, lines(1, 2), { attempt: 'a2' });
    const { entries } = await read({ attempt_id: null });
    expect(entries.map((e) => `${e.attempt}:${e.seq}`)).toEqual(['a1:1', 'a1:2', 'a2:1', 'a2:2']);
    expect((await read({ execution_id: 'nobody', attempt_id: null })).has_log).toBe(false);
    expect((await read({ execution_id: 'e2' })).entries).toEqual([]);
  });

  it(verifies('D37')('keeps texts as they are: ANSI codes, right-to-left marks, emoji, escaped NUL'), async () => {
    const entry = JSON.stringify({ text: '\u001b[31m \u202eabc\u202c 🐑 \0 \ud800' });
    await append(1, [entry, '{\n"a": 1\n}']);
    const [first, second] = (await read()).entries;
    expect(JSON.parse(first!.entry)).toEqual(JSON.parse(entry));
    expect(JSON.parse(second!.entry)).toEqual({ a: 1 });
  });

  it(verifies('R48')('drops old logs in bounded steps and leaves younger ones'), async () => {
    for (let i = 0; i < 10; i++) await append(i + 1, lines(i + 1, i + 1), { now: 100 });
    await append(1, lines(1, 3), { attempt: 'young', execution: 'e2', now: 900 });
    expect(await store.drop({ before: 500, max: 4 })).toEqual({ deleted: 4, more: true });
    expect(await store.drop({ before: 500, max: 100 })).toEqual({ deleted: 6, more: false });
    expect((await read({ attempt_id: null })).has_log).toBe(false);
    expect(await seqs({ execution_id: 'e2', attempt_id: 'young' })).toEqual([1, 2, 3]);
  });

  it(verifies('R48')('refuses a file of a newer schema'), async () => {
    await store.close();
    const db = new DatabaseSync(path);
    db.exec('PRAGMA user_version = 99');
    db.close();
    await expect(openSqliteLogs(dir, silentLog)).rejects.toThrow(/newer Drover/);
    const again = new DatabaseSync(path);
    again.exec('PRAGMA user_version = 1');
    again.close();
    store = await openSqliteLogs(dir, silentLog);
  });

  it(
    verifies('D33')('answers every append of a batch with the fault when the disk is full, and stores none of them'),
    async () => {
      await store.close();
      // The page count of this connection is bounded: what a full disk answers, without filling one.
      const db = new DatabaseSync(path);
      const { page_count } = db.prepare('PRAGMA page_count').get() as { page_count: number };
      db.close();
      const entry = new URL('./log-writer.ts', import.meta.url);
      const big = JSON.stringify('x'.repeat(50_000));
      const asked = Array.from({ length: 6 }, (_, i) => ({
        n: i,
        q: {
          call: 'append' as const,
          args: { attempt_id: `a${i}`, execution_id: 'e1', first_seq: 1, entries: [big], now: 1 },
        },
      }));
      const worker = new Worker(new URL('../../../test/fixtures/log-writer-full.ts', import.meta.url), {
        workerData: { path, pages: page_count + 20, entry: entry.href },
      });
      const faults = await new Promise<string[]>((resolve, reject) => {
        worker.on('error', reject);
        worker.on('message', (m: FromWorker) => {
          if (m.kind === 'answers') resolve(m.answers.map((a) => (a.ok ? 'stored' : a.fault.code)));
          else if (m.kind === 'ready') worker.postMessage({ kind: 'ask', asked } satisfies ToWorker<LogOrder>);
          else reject(new Error(m.fault.message));
        });
      });
      expect(faults).toEqual(Array(6).fill('store_failed'));
      await worker.terminate();
      store = await openSqliteLogs(dir, silentLog);
      expect(await store.storedSeq({ attempt_id: 'a0' })).toBe(0);
      expect(await append(1, lines(1, 2))).toBe(2);
    },
  );
});
