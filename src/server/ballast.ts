/**
 * The server's own ballast: a file in the home that the store's writer frees when the disk is full (R34). Laid at the start and
 * looked at once a minute; laid again only when the disk has several times its size free, or it would take back at once what was
 * freed for endings.
 */
import { statfs } from 'node:fs/promises';
import type { Kernel } from '../kernel/kernel.ts';

const lookMs = 60_000;
const roomBytes = 64 * 1024 * 1024;

/** Until the returned function is called. */
export const keepBallast = (
  home: string,
  ballast: { lay(): Promise<void> },
  { clock, log }: Pick<Kernel, 'clock' | 'log'>,
): (() => void) => {
  let stopped = false;
  let cancel = () => {};
  const look = async () => {
    try {
      const disk = await statfs(home);
      if (disk.bavail * disk.bsize >= roomBytes) await ballast.lay();
    } catch (error) {
      log.warn('the ballast file was not looked after', { error });
    }
    if (!stopped) cancel = clock.after(lookMs, () => void look());
  };
  void look();
  return () => {
    stopped = true;
    cancel();
  };
};
