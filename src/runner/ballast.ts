/**
 * A file that only takes up space, so that there is some to free when the disk is full: endings can then be recorded (R34).
 * Real bytes, not a sparse file. It is laid down again as soon as the disk has room for it.
 */
import { open, rm, stat } from 'node:fs/promises';
import type { Log } from '../kernel/log.ts';

/** Facts are 10–200 KB each; 8 MiB records the endings of a full fleet. */
const ballastBytes = 8 * 1024 * 1024;

export interface Ballast {
  /** Lays the file down when it is missing; a full disk is only logged. */
  lay(): Promise<void>;
  /** Frees the space; false when there was none to free. */
  letGo(): Promise<boolean>;
}

export const createBallast = (path: string, log: Log, bytes = ballastBytes): Ballast => ({
  async lay() {
    const size = await stat(path).then(
      (s) => s.size,
      () => 0,
    );
    if (size === bytes) return;
    try {
      const handle = await open(path, 'w', 0o600);
      try {
        await handle.writeFile(Buffer.alloc(bytes, 0x5a));
        await handle.sync();
      } finally {
        await handle.close();
      }
    } catch (error) {
      await rm(path, { force: true }).catch(() => {});
      log.warn('no room for the ballast file: endings may not be recorded when the disk fills up', { path, error });
    }
  },
  async letGo() {
    const held = await stat(path).then(
      (s) => s.size > 0,
      () => false,
    );
    if (!held) return false;
    await rm(path, { force: true });
    log.warn('the disk is full: the ballast file was freed to record endings', { path });
    return true;
  },
});
