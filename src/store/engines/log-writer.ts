/**
 * Entry of the thread that owns `logs.db`. All calls that wait run in one transaction, each append under a savepoint, and are
 * answered after the commit: what was answered is on disk. When the commit fails, every append of the batch gets the fault
 * and nothing of it was stored. Reads come after the appends of their batch. A bundle of its own in dist/server.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { isBroken } from './faults.ts';
import { type AppendLog, type LogFile, openLogFile, type ReadLog } from './log-file.ts';
import { cannotOpen } from './sqlite-owner.ts';
import { type Reply, serve, start } from './worker-loop.ts';

export type LogOrder =
  | { call: 'append'; args: AppendLog }
  | { call: 'read'; args: ReadLog }
  | { call: 'stored_seq'; args: { attempt_id: string } }
  | { call: 'drop'; args: { before: number; max: number } };

const isWrite = (o: LogOrder): boolean => o.call === 'append' || o.call === 'drop';

const runOrder = (file: LogFile, o: LogOrder): unknown => {
  switch (o.call) {
    case 'append':
      return file.append(o.args);
    case 'drop':
      return file.drop(o.args.before, o.args.max);
    case 'stored_seq':
      return file.storedSeq(o.args.attempt_id);
    case 'read':
      return file.read(o.args);
    default:
      return o satisfies never;
  }
};

const attempt = (run: () => unknown): Reply => {
  try {
    return { ok: true, a: run() };
  } catch (error) {
    return { ok: false, error };
  }
};

const groupAppends = (file: LogFile) => {
  const { db } = file;
  const exec = (sql: string) => db.prepare(sql);
  const [begin, commit, save, release, undo] = [
    exec('BEGIN IMMEDIATE'),
    exec('COMMIT'),
    exec('SAVEPOINT one'),
    exec('RELEASE one'),
    exec('ROLLBACK TO one'),
  ];
  const underSavepoint = (o: LogOrder): Reply => {
    save.run();
    const reply = attempt(() => runOrder(file, o));
    // A full disk rolls the whole transaction back by itself: nothing of this batch is left then.
    if (!reply.ok && (!db.isTransaction || isBroken(reply.error))) throw reply.error;
    if (!reply.ok) undo.run();
    release.run();
    return reply;
  };
  return (orders: LogOrder[]): Reply[] => {
    const replies = new Map<LogOrder, Reply>();
    const writes = orders.filter(isWrite);
    try {
      if (writes.length > 0) begin.run();
      for (const o of writes) replies.set(o, underSavepoint(o));
      if (writes.length > 0) commit.run();
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      for (const o of writes) replies.set(o, { ok: false, error });
    }
    // Gives back to the file system what retention freed, a little at a time.
    if (writes.some((o) => o.call === 'drop')) db.exec('PRAGMA incremental_vacuum(256)');
    return orders.map((o) => replies.get(o) ?? attempt(() => runOrder(file, o)));
  };
};

const { path } = workerData as { path: string };
const port = parentPort!;
let file: LogFile | null = null;
const opened = start(port, () => {
  try {
    file = openLogFile(path);
  } catch (error) {
    throw cannotOpen(path, error);
  }
  return {};
});
if (opened) {
  const answer = groupAppends(file!);
  serve<LogOrder>(
    port,
    'clone',
    async (batch) => answer(batch),
    () => file!.db.close(),
  );
}
