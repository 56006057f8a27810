/**
 * Small files that must be whole: written beside, then renamed. A reader sees the old text or the new one, never a half, and
 * both survive a kill of the runner. `writeDurably` also survives a crash of the host (a sync costs 18 ms here, so only facts
 * pay it). When the disk is full the ballast is let go once and the write is tried again.
 */
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Ballast } from './ballast.ts';

const syncDir = async (dir: string): Promise<void> => {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const writeOnce = async (path: string, text: string, sync: boolean): Promise<void> => {
  const beside = `${path}.new`;
  const handle = await open(beside, 'w', 0o600);
  try {
    await handle.writeFile(text);
    if (sync) await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(beside, path);
  if (sync) await syncDir(dirname(path));
};

const isFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException | null)?.code ?? '');

const write = async (path: string, text: string, ballast: Ballast, sync: boolean): Promise<void> => {
  try {
    await writeOnce(path, text, sync);
  } catch (error) {
    // The half-written file holds the very space the second try needs.
    await rm(`${path}.new`, { force: true }).catch(() => {});
    if (!isFull(error) || !(await ballast.letGo())) throw error;
    await writeOnce(path, text, sync);
  }
};

export const writeWhole = (path: string, text: string, ballast: Ballast): Promise<void> =>
  write(path, text, ballast, false);
export const writeDurably = (path: string, text: string, ballast: Ballast): Promise<void> =>
  write(path, text, ballast, true);

/** The parsed file, or null when it is missing or no JSON (a crash of the host may leave either). */
export const readJson = async (path: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return null;
  }
};
