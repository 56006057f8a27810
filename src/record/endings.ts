/**
 * Who waits for an execution to end: synchronous answers, and later callers by id. The news comes from the commit that ended
 * the row (`stirred.ended`); the truth is the store, which is asked once when a wait begins, so that an ending just before
 * it is never missed, and again now and then, so that lost news costs seconds and never a hang. Decides nothing.
 */
import { isTerminal } from '../contract/execution.ts';
import type { Endings } from '../flow/deps.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { Stirred, Store } from '../store/store.ts';

/** News can only be lost when another process ended the row; 15 s is what a person still calls "it answered". */
const lookAgainMs = 15_000;

interface EndingsOfCommits extends Endings {
  /** Told after every commit. */
  stir(stirred: Pick<Stirred, 'ended'>): void;
}

interface EndingsParts {
  store: Pick<Store, 'read'>;
  kernel: Pick<Kernel, 'clock'>;
}

export const createEndings = ({ store, kernel: { clock } }: EndingsParts): EndingsOfCommits => {
  const waiters = new Map<string, Set<() => void>>();

  const listen = (id: string, wake: () => void): (() => void) => {
    const all = waiters.get(id) ?? new Set();
    waiters.set(id, all.add(wake));
    return () => {
      all.delete(wake);
      if (all.size === 0 && waiters.get(id) === all) waiters.delete(id);
    };
  };

  return {
    stir({ ended }) {
      for (const id of ended) for (const wake of [...(waiters.get(id) ?? [])]) wake();
    },

    wait(id, ms, signal) {
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
        undo.push(listen(id, () => finish(() => resolve(true))));
        signal?.addEventListener('abort', leave, { once: true });
        undo.push(() => signal?.removeEventListener('abort', leave));

        const look = async () => {
          const row = await store.read('execution', { id });
          if (row === null || isTerminal(row.status)) return finish(() => resolve(row !== null));
          if (!settled) undo.push(clock.after(lookAgainMs, start));
        };
        const start = () => void look().catch((error) => finish(() => reject(error)));
        if (signal?.aborted) return leave();
        if (ms !== null) undo.push(clock.after(ms, leave));
        start();
      });
    },
  };
};
