/**
 * The worker that owns `logs.db`. All calls that wait run in one transaction, each append under a savepoint, and are answered
 * after the commit: what was answered is on disk. When the commit fails, every call of the batch gets the fault and
 * nothing of it was stored.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { type AppendLog, openLogFile, type ReadLog } from './log-file.ts';

export type LogCall =
  | { id: number; call: 'append'; args: AppendLog }
  | { id: number; call: 'read'; args: ReadLog }
  | { id: number; call: 'stored_seq'; args: { attempt_id: string } }
  | { id: number; call: 'drop'; args: { before: number; max: number } }
  | { id: number; call: 'close' };
export type LogAnswer = { id: number; ok: unknown } | { id: number; failed: string; code: number | null };

const port = parentPort!;
const { path } = workerData as { path: string };

const failure = (id: number, e: unknown): LogAnswer => ({
  id,
  failed: e instanceof Error ? e.message : String(e),
  code: (e as { errcode?: number }).errcode ?? null,
});

const isWrite = (c: LogCall): boolean => c.call === 'append' || c.call === 'drop';

const run = () => {
  const file = openLogFile(path);
  const { db } = file;
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');
  const save = db.prepare('SAVEPOINT one');
  const release = db.prepare('RELEASE one');
  const undo = db.prepare('ROLLBACK TO one');

  const result = (c: LogCall): unknown => {
    switch (c.call) {
      case 'append':
        return file.append(c.args);
      case 'drop':
        return file.drop(c.args.before, c.args.max);
      case 'stored_seq':
        return file.storedSeq(c.args.attempt_id);
      case 'read':
        return file.read(c.args);
      case 'close':
        return null;
      default:
        return c satisfies never;
    }
  };

  const one = (c: LogCall): LogAnswer => {
    try {
      save.run();
      const ok = result(c);
      release.run();
      return { id: c.id, ok };
    } catch (e) {
      // A full disk ends the whole transaction: then there is no savepoint to go back to, and the batch fails.
      if (!db.isTransaction) throw e;
      undo.run();
      release.run();
      return failure(c.id, e);
    }
  };

  let waiting: LogCall[] = [];
  const flush = () => {
    const batch = waiting;
    waiting = [];
    const writes = batch.filter(isWrite);
    let answers: LogAnswer[] = [];
    try {
      if (writes.length > 0) {
        begin.run();
        answers = writes.map(one);
        commit.run();
      }
    } catch (e) {
      if (db.isTransaction) rollback.run();
      answers = writes.map((c) => failure(c.id, e));
    }
    // Reads after the writes of their batch: who was answered by an append finds it.
    for (const c of batch.filter((c) => !isWrite(c)))
      try {
        answers.push({ id: c.id, ok: result(c) });
      } catch (e) {
        answers.push(failure(c.id, e));
      }
    // Gives back what retention freed, a little at a time.
    if (writes.some((c) => c.call === 'drop')) db.exec('PRAGMA incremental_vacuum(256)');
    if (batch.some((c) => c.call === 'close')) db.close();
    port.postMessage(answers);
  };
  port.on('message', (c: LogCall) => {
    waiting.push(c);
    if (waiting.length === 1) setImmediate(flush);
  });
};

run();
port.postMessage('ready');
