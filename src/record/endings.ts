/**
 * Who waits for an execution to end, or to run again after a call: synchronous answers, and later callers by id. The news comes from the commit that ended
 * the row (`stirred.ended`, `.resumed`, `.requeued`); the truth is the store, which is asked once when a wait begins, so that an ending just before
 * it is never missed, and again now and then, so that lost news costs seconds and never a hang. Decides nothing.
 */
import { isTerminal } from '../contract/status.ts';
import type { Endings } from '../flow/deps.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { Stirred, Store } from '../store/store.ts';

/** News can only be lost when another process ended the row; 15 s is what a person still calls "it answered". */
const lookAgainMs = 15_000;
/** What could run has been claimed by then: only what still stands in the queue is asked why. */
const askWhyMs = 1_000;

interface EndingsOfCommits extends Endings {
  /** Told after every commit. */
  stir(stirred: Pick<Stirred, 'ended' | 'resumed' | 'requeued'>): void;
}

interface EndingsParts {
  store: Pick<Store, 'read'>;
  kernel: Pick<Kernel, 'clock'>;
}

export const createEndings = ({ store, kernel: { clock } }: EndingsParts): EndingsOfCommits => {
  type Waiters = Map<string, Set<() => void>>;
  const waiters: Waiters = new Map();
  /** Executions whose calls may be answered when they run again. */
  const callers: Waiters = new Map();
  /** Executions whose waiters want to know when they are put aside. */
  const asking: Waiters = new Map();

  const listen = (among: Waiters, id: string, wake: () => void): (() => void) => {
    const all = among.get(id) ?? new Set();
    among.set(id, all.add(wake));
    return () => {
      all.delete(wake);
      if (all.size === 0 && among.get(id) === all) among.delete(id);
    };
  };

  return {
    stir({ ended, resumed, requeued }) {
      for (const id of requeued) for (const wake of [...(asking.get(id) ?? [])]) wake();
      for (const id of ended) for (const wake of [...(waiters.get(id) ?? [])]) wake();
      for (const id of [...ended, ...resumed]) for (const wake of [...(callers.get(id) ?? [])]) wake();
    },

    async back(id, token, signal) {
      for (;;) {
        // Listen first, look second, as above.
        const { promise: news, resolve: wake } = Promise.withResolvers<void>();
        const undo = [listen(callers, id, wake), clock.after(lookAgainMs, wake)];
        signal?.addEventListener('abort', wake as () => void, { once: true });
        undo.push(() => signal?.removeEventListener('abort', wake as () => void));
        try {
          if (signal?.aborted) return 'left';
          const caller = await store.read('caller', { execution_id: id, token });
          if (caller === null) return 'ended';
          if (caller.status === 'running') return 'back';
          await news;
        } finally {
          for (const u of undo) u();
        }
      }
    },

    wait(id, ms, signal, putAside) {
      return new Promise((resolve, reject) => {
        const undo: (() => void)[] = [];
        let settled = false;
        const finish = (answer: () => void) => {
          if (settled) return;
          settled = true;
          for (const u of undo) u();
          answer();
        };
        const leave = () => finish(() => resolve(false));
        // Listen first, look second: an ending between the two is then seen by one of them.
        undo.push(listen(waiters, id, () => finish(() => resolve(true))));
        signal?.addEventListener('abort', leave, { once: true });
        undo.push(() => signal?.removeEventListener('abort', leave));

        const look = async () => {
          const row = await store.read('execution', { id });
          if (row === null || isTerminal(row.status)) return finish(() => resolve(row !== null));
          if (asks && row.status === 'queued' && (await putAside?.(id))) return leave();
          if (!settled) later(lookAgainMs);
        };
        // One timer at a time, whatever woke the look before.
        let cancel = () => {};
        undo.push(() => cancel());
        const later = (inMs: number) => {
          cancel();
          cancel = clock.after(inMs, start);
        };
        let asks = false;
        const ask = () => {
          asks = true;
          start();
        };
        const start = () => void look().catch((error) => finish(() => reject(error)));
        if (signal?.aborted) return leave();
        if (ms !== null) undo.push(clock.after(ms, leave));
        if (putAside) undo.push(listen(asking, id, ask), clock.after(askWhyMs, ask));
        start();
      });
    },
  };
};
