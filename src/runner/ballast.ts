/**
 * A file that only takes up space, so that there is some to free when the disk is full: endings can then be recorded (R34).
 * Real bytes, not a sparse file. It is laid down again only when the disk has several times its size free, or it would take back
 * at once what was freed for endings.
 */
import { open, rm, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Log } from '../kernel/log.ts';

/** Facts are 10–200 KB each; 8 MiB records the endings of a full fleet. */
const ballastBytes = 8 * 1024 * 1024;
/** So many times its size must be free before it is laid. */
const roomTimes = 8;

export interface Ballast {
  /** Lays the file down when it is missing; true when it lies there. Without room for it that is logged, once per episode. */
  lay(): Promise<boolean>;
  /** Frees the space; false when there was none to free. */
  letGo(): Promise<boolean>;
}

const write = async (path: string, bytes: number): Promise<void> => {
  const { bavail, bsize } = await statfs(dirname(path));
  if (bavail * bsize < roomTimes * bytes) throw new Error(`only ${bavail * bsize} bytes are free`);
  const handle = await open(path, 'w', 0o600);
  try {
    await handle.writeFile(Buffer.alloc(bytes, 0x5a));
    await handle.sync();
  } catch (error) {
    await rm(path, { force: true }).catch(() => {});
    throw error;
  } finally {
    await handle.close();
  }
};

export const createBallast = (path: string, log: Log, bytes = ballastBytes): Ballast => {
  let told = false;
  return {
    async lay() {
      const size = await stat(path).then(
        (s) => s.size,
        () => 0,
      );
      if (size === bytes) return true;
      try {
        await write(path, bytes);
        told = false;
        return true;
      } catch (error) {
        if (!told)
          log.warn('no room for the ballast file: endings may not be recorded when the disk fills up', { path, error });
        told = true;
        return false;
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
  };
};
