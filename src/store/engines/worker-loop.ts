/**
 * The worker's side of a channel: takes everything that has arrived, has it answered as one batch, and sends the answers in
 * one message. While a batch runs, the next one gathers: under load batches grow by themselves, and no verb waits for a timer.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { sendFault } from './faults.ts';
import {
  type Answered,
  type Asked,
  type FromWorker,
  type Packing,
  pack,
  type ToWorker,
  unpack,
} from './worker-channel.ts';

export type Reply = { ok: true; a: unknown } | { ok: false; error: unknown };

/** At most this many verbs in one transaction: an answer is at most some 50 ms behind its batch's first verb. */
const batchMax = 512;

export const serve = <Q>(
  port: MessagePort,
  packing: Packing,
  answer: (batch: Q[]) => Promise<Reply[]>,
  close: () => void,
): void => {
  const send = (m: FromWorker) => port.postMessage(pack(packing, m));
  const queue: Asked<Q>[] = [];
  let closing = false;
  let busy = false;
  const take = (sent: unknown) => {
    const m = unpack<ToWorker<Q>>(sent);
    if (m.kind === 'close') closing = true;
    else queue.push(...m.asked);
  };
  const drain = () => {
    for (let m = receiveMessageOnPort(port); m; m = receiveMessageOnPort(port)) take(m.message);
  };
  const work = async () => {
    busy = true;
    for (;;) {
      drain();
      const batch = queue.splice(0, batchMax);
      if (batch.length === 0) break;
      const replies = await answer(batch.map((b) => b.q));
      const answers = batch.map(({ n }, i): Answered => {
        const r = replies[i]!;
        return r.ok ? { n, ok: true, a: r.a } : { n, ok: false, fault: sendFault(r.error) };
      });
      send({ kind: 'answers', answers });
    }
    busy = false;
    if (closing) {
      close();
      port.close();
    }
  };
  port.on('message', (sent: unknown) => {
    take(sent);
    if (!busy) void work();
  });
};

/** Opens what the worker needs; a failure is told to the owner instead of crashing the thread. */
export const start = (port: MessagePort, open: () => Record<string, unknown>): boolean => {
  try {
    port.postMessage({ kind: 'ready', info: open() } satisfies FromWorker);
    return true;
  } catch (error) {
    port.postMessage({ kind: 'failed', fault: sendFault(error) } satisfies FromWorker);
    port.close();
    return false;
  }
};
