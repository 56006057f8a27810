/**
 * Questions to a worker thread and its answers, by number. All that is asked in one turn of the event loop travels in one
 * message (a microtask later would be one message per request): at 256 in flight the posting itself would cost more than the
 * verbs. A worker that dies fails all that wait.
 */
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { Fault } from '../../contract/errors.ts';
import type { Log } from '../../kernel/log.ts';
import { receiveFault, type SentFault } from './faults.ts';

export interface Asked<Q> {
  n: number;
  q: Q;
}
export type Answered = { n: number; ok: true; a: unknown } | { n: number; ok: false; fault: SentFault };
/** What a worker may send: `ready` once, or `failed` instead of it; then answers. */
export type FromWorker =
  | { kind: 'ready'; info: Record<string, unknown> }
  | { kind: 'failed'; fault: SentFault }
  | { kind: 'answers'; answers: Answered[] };
export type ToWorker<Q> = { kind: 'ask'; asked: Asked<Q>[] } | { kind: 'close' };

/**
 * `text`: as JSON, which for many small rows costs half of a structured clone, on both sides. `clone`: as it is, for texts of
 * megabytes.
 */
export type Packing = 'text' | 'clone';
export const pack = (how: Packing, message: unknown): unknown => (how === 'text' ? JSON.stringify(message) : message);
export const unpack = <M>(sent: unknown): M => (typeof sent === 'string' ? JSON.parse(sent) : sent) as M;

/** More than this is not waited for: the worker begins while the event loop still reads requests. */
const flushAt = 32;

/**
 * V8 takes the size of a young generation from its flag as it stands when a heap is made: a thread's is half of the event
 * loop's. The three of a full server are 9 MB smaller, with as many accepts; at 1 MB what lists leave behind grows old (5 MB).
 */
const youngHeap = '--max-semi-space-size=2';

interface Channel<Q> {
  readonly info: Record<string, unknown>;
  ask(q: Q): Promise<unknown>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Fault): void;
}

export const openChannel = <Q>(url: URL, workerData: unknown, packing: Packing, log: Log): Promise<Channel<Q>> =>
  new Promise((started, refused) => {
    setFlagsFromString(youngHeap);
    const worker = new Worker(url, { workerData });
    const waiting = new Map<number, Waiting>();
    let next = 1;
    let out: Asked<Q>[] = [];
    let gone: Fault | null = null;
    let closing = false;
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));

    const fail = (fault: Fault) => {
      gone ??= fault;
      refused(gone);
      for (const w of waiting.values()) w.reject(gone);
      waiting.clear();
    };
    const flush = () => {
      if (out.length === 0) return;
      const asked = out;
      out = [];
      worker.postMessage(pack(packing, { kind: 'ask', asked } satisfies ToWorker<Q>));
    };
    const channel = (info: Record<string, unknown>): Channel<Q> => ({
      info,
      ask: (q) =>
        new Promise((resolve, reject) => {
          if (closing) return reject(new Fault('shutting_down', 'The store is closed.'));
          if (gone) return reject(gone);
          const n = next++;
          waiting.set(n, { resolve, reject });
          const waits = out.push({ n, q });
          if (waits === 1) setImmediate(flush);
          else if (waits === flushAt) flush();
        }),
      async close() {
        if (!closing) {
          closing = true;
          if (out.length > 0) flush();
          worker.postMessage({ kind: 'close' } satisfies ToWorker<Q>);
        }
        await exited;
      },
    });

    worker.on('message', (sent: unknown) => {
      const m = unpack<FromWorker>(sent);
      if (m.kind === 'ready') return started(channel(m.info));
      if (m.kind === 'failed') {
        // Told when the thread has ended: whoever hears of it finds no file of it open any more.
        gone = receiveFault(m.fault);
        return;
      }
      for (const answer of m.answers) {
        const w = waiting.get(answer.n);
        waiting.delete(answer.n);
        if (answer.ok) w?.resolve(answer.a);
        else w?.reject(receiveFault(answer.fault));
      }
    });
    worker.on('error', (error) => {
      log.error('a worker of the store died', { error, worker: url.pathname });
      fail(new Fault('store_failed', `A worker of the store died: ${error.message}`, { cause: error }));
    });
    worker.on('exit', () => fail(new Fault('store_failed', 'A worker of the store has ended.')));
  });
