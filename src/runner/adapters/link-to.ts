/** A link at `path` that leads to `target`, whatever stands there: for folders of a CLI that outlive its login. */
import { lstat, readlink, rename, rm, symlink } from 'node:fs/promises';

export const linkTo = async (target: string, path: string): Promise<void> => {
  const there = await readlink(path).catch(() => null);
  if (there === target) return;
  // A CLI run by hand on this directory may have made a real one: kept beside, never deleted.
  const known = await lstat(path).catch(() => null);
  if (known?.isSymbolicLink()) await rm(path, { force: true });
  else if (known) await rename(path, `${path}.before-${known.mtimeMs.toFixed(0)}`);
  await symlink(target, path).catch((error: NodeJS.ErrnoException) => {
    // Another attempt of the same agent was quicker.
    if (error.code !== 'EEXIST') throw error;
  });
};
