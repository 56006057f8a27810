/**
 * One attempt's transcript to the server, in order and until it is stored: batches of slices, one request at a time. The
 * answer names the highest stored sequence number, and the next batch begins behind it: a batch that was lost is sent
 * again, one that was stored already (another runner's, before a restart) is skipped. Facts follow when all is stored.
 */
import type { CliKind } from '../contract/facts.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { Slice } from './journal.ts';
import { whileUnreachable } from './retry.ts';
import { type ServerClient, ServerRefused } from './server-client.ts';
import type { Streams } from './streams.ts';
import { entriesOf } from './transcript.ts';

/** A request stays below the server's bound for bodies; an entry is 256 KB at most. */
const batchBytes = 256 * 1024;

export interface Delivery {
  add(slice: Slice): void;
  /** Slices that are not stored yet. */
  readonly backlog: number;
  /** Resolves when everything added so far is stored, or will never be (refused, aborted). */
  drained(): Promise<void>;
}

interface DeliveryParts {
  attempt: string;
  token: string;
  cli: CliKind;
  streams: Streams;
  server: ServerClient;
  kernel: Kernel;
  clean(text: string): string;
  /** The runner leaves: what is not sent now is sent by the next one. */
  signal: AbortSignal;
}

export const startDelivery = (p: DeliveryParts): Delivery => {
  const pending: Slice[] = [];
  let storedSeq = 0;
  let given = false;
  let work: Promise<void> | null = null;

  const nextBatch = async (): Promise<{ firstSeq: number; entries: string[] } | null> => {
    while (pending[0] && pending[0].seq + pending[0].n - 1 <= storedSeq) pending.shift();
    const entries: string[] = [];
    let firstSeq = 0;
    let bytes = 0;
    for (const slice of pending) {
      let own = await entriesOf(slice, p.streams, p.cli, p.clean);
      let seq = slice.seq;
      if (seq <= storedSeq) {
        own = own.slice(storedSeq + 1 - seq);
        seq = storedSeq + 1;
      }
      if (entries.length === 0) firstSeq = seq;
      for (const entry of own) {
        const size = Buffer.byteLength(entry) + 1;
        if (entries.length > 0 && bytes + size > batchBytes) return { firstSeq, entries };
        entries.push(entry);
        bytes += size;
      }
    }
    return entries.length === 0 ? null : { firstSeq, entries };
  };

  /** As they lie in the files; as entries they are some 60 bytes a line more. */
  const bytesPending = () =>
    pending.reduce((sum, s) => sum + 64 * s.n + s.stdout[1] - s.stdout[0] + s.stderr[1] - s.stderr[0], 0);

  const run = async (): Promise<void> => {
    for (;;) {
      const leave = await p.server.eventRoom.take(Math.min(batchBytes, bytesPending()));
      try {
        const batch = await nextBatch();
        if (batch === null) return;
        const stored = await whileUnreachable(p.kernel, 'delivering the transcript', p.attempt, p.signal, () =>
          p.server.events(p.attempt, p.token, batch.firstSeq, batch.entries, p.signal),
        );
        // Never backwards, and never stuck: a server that answers less than it was given has refused the rest.
        storedSeq = Math.max(stored, batch.firstSeq + batch.entries.length - 1);
      } finally {
        leave();
      }
    }
  };

  const start = () => {
    if (work !== null || given) return;
    work = run()
      .catch((error) => {
        given = true;
        pending.length = 0;
        if (p.signal.aborted) return;
        const refused = error instanceof ServerRefused;
        p.kernel.log[refused ? 'info' : 'error']('the rest of a transcript is not delivered', {
          attempt: p.attempt,
          error: refused ? error.message : error,
        });
      })
      .finally(() => {
        work = null;
        if (pending.length > 0) start();
      });
  };

  return {
    add(slice) {
      if (given) return;
      pending.push(slice);
      start();
    },
    get backlog() {
      return pending.length;
    },
    async drained() {
      while (work !== null) await work;
    },
  };
};
