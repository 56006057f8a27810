/** DROVER_HOME before anything else touches it: it exists, is ours (0700), can be written, and its disk is not full. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../contract/errors.ts';

const why: Record<string, string> = {
  EACCES: 'this user may not write there. Change its owner, or set DROVER_HOME to a directory of yours',
  EPERM: 'this user may not write there. Change its owner, or set DROVER_HOME to a directory of yours',
  EROFS: 'the file system is read-only. Set DROVER_HOME to a writable directory',
  ENOSPC: 'the disk is full. Free some space and start again',
  EDQUOT: 'the quota of the disk is used up. Free some space and start again',
  ENOTDIR: 'a part of the path is a file. Set DROVER_HOME to a directory',
  EEXIST: 'a file of that name is in the way. Set DROVER_HOME to a directory',
};

export const prepareHome = (home: string): void => {
  const probe = join(home, `.probe-${process.pid}`);
  try {
    for (const dir of ['', 'run', 'log', 'workspaces', 'runner'])
      mkdirSync(join(home, dir), { recursive: true, mode: 0o700 });
    chmodSync(home, 0o700);
    // A whole page: an empty file can be made on a full disk.
    writeFileSync(probe, Buffer.alloc(65_536));
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    throw new Fault('store_failed', `DROVER_HOME ${home} cannot be used: ${why[code] ?? (cause as Error).message}.`, {
      cause,
    });
  } finally {
    rmSync(probe, { force: true });
  }
};
