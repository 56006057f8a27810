/**
 * The one way to write: a verb with the present times, on disk before this returns, and dispatch told what it stirred.
 * Whoever calls `store.write` without it forgets to wake a waiter. Throws a Fault when the store failed: nothing was stored.
 */
import type { Kernel } from '../kernel/kernel.ts';
import type { Stirred, Store, WriteVerbs } from '../store/store.ts';

export interface Committing {
  kernel: Pick<Kernel, 'clock'>;
  store: Pick<Store, 'write'>;
  stir(stirred: Stirred): void;
}

export const commit = async <V extends keyof WriteVerbs>(
  deps: Committing,
  verb: V,
  args: WriteVerbs[V][0],
): Promise<WriteVerbs[V][1]> => {
  const { clock } = deps.kernel;
  const { result, stirred } = await deps.store.write(verb, { ...args, now: clock.now(), steady: clock.steady() });
  deps.stir(stirred);
  return result;
};
