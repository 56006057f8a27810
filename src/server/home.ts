/** DROVER_HOME before anything else touches it: it exists, is ours (0700), can be written, and its disk is not full. */
import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Fault } from '../contract/errors.ts';

/** What another DROVER_HOME mends: the setting is wrong. */
const misplaced: Record<string, string> = {
  EACCES: 'this user may not write there. Change its owner, or set DROVER_HOME to a directory of yours',
  EPERM: 'this user may not write there. Change its owner, or set DROVER_HOME to a directory of yours',
  EROFS: 'the file system is read-only. Set DROVER_HOME to a writable directory',
  // What the kernel's own file systems (/proc) answer to a new directory.
  ENOENT: 'no directory can be made there. Set DROVER_HOME to a directory on a disk',
  ENAMETOOLONG: 'the path is too long. Set DROVER_HOME to a shorter one',
  ELOOP: 'its links lead round in a circle. Set DROVER_HOME to a directory',
};
/** What the disk has to be mended for; the place is right. */
const full: Record<string, string> = {
  ENOSPC: 'the disk is full. Free some space and start again',
  EDQUOT: 'the quota of the disk is used up. Free some space and start again',
};

/** Not `recursive`: that one says ENOENT where the disk is read-only. */
const makeDir = (dir: string): void => {
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(dir) !== dir) makeDir(dirname(dir));
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    // Made meanwhile, by another start: what counts is that it is there.
    if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
};

export const prepareHome = (home: string): void => {
  const probe = join(home, `.probe-${process.pid}`);
  try {
    for (const dir of ['', 'run', 'log', 'workspaces', 'runner']) makeDir(join(home, dir));
    chmodSync(home, 0o700);
    try {
      // A whole page: an empty file can be made on a full disk.
      writeFileSync(probe, Buffer.alloc(65_536));
    } finally {
      rmSync(probe, { force: true });
    }
  } catch (cause) {
    const { code = '', path, message } = cause as NodeJS.ErrnoException;
    const wrongPlace =
      code === 'EEXIST' || code === 'ENOTDIR' ? `${path} is a file. Set DROVER_HOME to a directory` : misplaced[code];
    const words = wrongPlace ?? full[code] ?? `${message}. Set DROVER_HOME to a directory this user may write to`;
    throw new Fault(
      wrongPlace === undefined ? 'store_failed' : 'invalid',
      `DROVER_HOME ${home} cannot be used: ${words}.`,
      { cause },
    );
  }
};
