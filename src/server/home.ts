/** DROVER_HOME before anything else touches it: it exists, is ours (0700), can be written, and its disk is not full. */
import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Fault } from '../contract/errors.ts';

const why: Record<string, string> = {
  EACCES: 'this user may not write there. Change its owner, or set DROVER_HOME to a directory of yours',
  EPERM: 'this user may not write there. Change its owner, or set DROVER_HOME to a directory of yours',
  EROFS: 'the file system is read-only. Set DROVER_HOME to a writable directory',
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
    const inTheWay =
      code === 'EEXIST' || code === 'ENOTDIR' ? `${path} is a file. Set DROVER_HOME to a directory` : null;
    throw new Fault('store_failed', `DROVER_HOME ${home} cannot be used: ${inTheWay ?? why[code] ?? message}.`, {
      cause,
    });
  }
};
