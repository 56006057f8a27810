/**
 * The server's own ballast: a file in the home that the store's writer frees when the disk is full (R34). Laid at the start and
 * looked after; that it lies there again is how the writer knows that new work may be taken.
 */
import type { Kernel } from '../kernel/kernel.ts';

/** One `stat`; as long as it is missing, new work is refused. */
const lookMs = 2_000;

/** Until the returned function is called. */
export const keepBallast = (ballast: { lay(): Promise<boolean> }, { clock }: Pick<Kernel, 'clock'>): (() => void) => {
  let stopped = false;
  let cancel = () => {};
  const look = async () => {
    await ballast.lay();
    if (!stopped) cancel = clock.after(lookMs, () => void look());
  };
  void look();
  return () => {
    stopped = true;
    cancel();
  };
};
