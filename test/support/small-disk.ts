/**
 * A file system of its own that can be filled to its last page and given room again in an instant, without a byte written: a
 * tmpfs whose size is set to what is used. 4 GiB to begin with (of nothing), since claims stop below 2 GiB.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const roomy = 4 * 1024 ** 3;
const mount = (...args: string[]) => execFileSync('mount', args, { stdio: 'ignore' });

export interface SmallDisk {
  path: string;
  /** Full but for `left` bytes. */
  fill(left?: number): void;
  /** As when somebody deletes what filled it. */
  free(): void;
  freeBytes(): number;
  end(): void;
}

export const smallDisk = (): SmallDisk => {
  const path = mkdtempSync(join(tmpdir(), 'drover-disk-'));
  try {
    mount('-t', 'tmpfs', '-o', `size=${roomy}`, 'tmpfs', path);
  } catch (error) {
    rmSync(path, { recursive: true });
    throw error;
  }
  const resize = (bytes: number) => mount('-o', `remount,size=${bytes}`, 'tmpfs', path);
  return {
    path,
    fill: (left = 0) => {
      // Somebody may write between the look and the remount, which is then refused.
      for (let tries = 0; ; tries++)
        try {
          const { blocks, bfree, bsize } = statfsSync(path);
          return resize((blocks - bfree) * bsize + left);
        } catch (error) {
          if (tries === 100) throw error;
        }
    },
    free: () => resize(roomy),
    freeBytes: () => {
      const { bfree, bsize } = statfsSync(path);
      return bfree * bsize;
    },
    end: () => {
      execFileSync('umount', [path], { stdio: 'ignore' });
      rmSync(path, { recursive: true });
    },
  };
};

/** Why there is none here; null when there is. */
export const noSmallDisk = (): string | null => {
  try {
    smallDisk().end();
    return null;
  } catch {
    return 'this user cannot mount a tmpfs';
  }
};
