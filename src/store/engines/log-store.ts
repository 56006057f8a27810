/**
 * The server's side of `logs.db`: `appendLog`, and the reads `log` and `stored_seq`, as promises. The file has a worker of
 * its own (log-writer.ts), so that neither the event loop nor a claim ever waits for a line of a log.
 */
import { Worker } from 'node:worker_threads';
import { Fault } from '../../contract/errors.ts';
import type { AppendLog, LogPage, ReadLog } from './log-file.ts';
import type { LogAnswer, LogCall } from './log-writer.ts';

export interface LogStore {
  /** On disk when it answers, with the highest stored seq; a repeat of stored entries changes nothing. */
  append(args: AppendLog): Promise<number>;
  read(args: ReadLog): Promise<LogPage>;
  storedSeq(attemptId: string): Promise<number>;
  /** Retention: logs last written before `before`, at most `max` chunks at a time. */
  drop(args: { before: number; max: number }): Promise<{ deleted: number; more: boolean }>;
  close(): Promise<void>;
}

const sqliteFull = 13;

export const openLogStore = async (path: string): Promise<LogStore> => {
  const entry = import.meta.url.endsWith('.ts') ? './log-writer.ts' : './log-writer.js';
  const worker = new Worker(new URL(entry, import.meta.url), { workerData: { path } });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(e: Fault): void }>();
  let next = 0;
  let dead: Fault | null = null;

  const die = (cause: unknown) => {
    dead ??= new Fault(
      'store_failed',
      `The log store ${path} has stopped: ${cause instanceof Error ? cause.message : cause}`,
      {
        cause,
      },
    );
    for (const w of waiting.values()) w.reject(dead);
    waiting.clear();
  };
  worker.on('error', die);
  worker.on('exit', (code) => die(`its worker left with code ${code}`));

  await new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('error', (cause) =>
      reject(new Fault('store_failed', `Cannot open ${path}: ${cause.message}`, { cause })),
    );
  });
  worker.on('message', (answers: LogAnswer[]) => {
    for (const a of answers) {
      const w = waiting.get(a.id);
      waiting.delete(a.id);
      if ('ok' in a) w?.resolve(a.ok);
      else {
        const why = a.code === sqliteFull ? 'the disk is full' : a.failed;
        w?.reject(new Fault('store_failed', `The log was not stored or read: ${why}.`));
      }
    }
  });

  type CallOf<C extends LogCall['call']> = Extract<LogCall, { call: C }>;
  const ask = <C extends LogCall['call']>(call: Omit<CallOf<C>, 'id'>): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (dead !== null) return reject(dead);
      const id = next++;
      waiting.set(id, { resolve, reject });
      worker.postMessage({ ...call, id });
    });

  return {
    append: (args) => ask<'append'>({ call: 'append', args }) as Promise<number>,
    read: (args) => ask<'read'>({ call: 'read', args }) as Promise<LogPage>,
    storedSeq: (attempt_id) => ask<'stored_seq'>({ call: 'stored_seq', args: { attempt_id } }) as Promise<number>,
    drop: (args) => ask<'drop'>({ call: 'drop', args }) as Promise<{ deleted: number; more: boolean }>,
    async close() {
      if (dead === null) await ask<'close'>({ call: 'close' });
      dead ??= new Fault('shutting_down', 'The log store is closed.');
      await worker.terminate();
    },
  };
};
