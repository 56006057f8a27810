/**
 * A spawn that failed, as facts: Node names the binary when it is the directory that is missing (ENOENT), so both are looked
 * at right away, on the same host. Nothing is concluded here.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { SpawnError } from '../../contract/facts.ts';

type Told = Pick<SpawnError, 'code' | 'syscall' | 'path' | 'message'>;

/** Null when it could not be looked at (no right to pass a directory on the way). */
const exists = (path: string, directory: boolean): boolean | null => {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat !== undefined && stat.isDirectory() === directory;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR' ? false : null;
  }
};

export const spawnErrorOf = (
  told: Told,
  order: { argv: string[]; cwd: string; env: Record<string, string> },
): SpawnError => {
  const name = order.argv[0] ?? '';
  // As execvp looks: a name with a slash from the working directory, any other along the child's own PATH.
  const places = name.includes('/') ? [order.cwd] : (order.env.PATH ?? '/bin:/usr/bin').split(':');
  const seen = places.map((place) => exists(name.startsWith('/') ? name : join(place || '.', name), false));
  return {
    code: told.code,
    syscall: told.syscall,
    path: told.path,
    message: told.message,
    cwd_exists: order.cwd.includes('\0') ? false : exists(order.cwd, true),
    binary_exists: seen.includes(true) ? true : seen.includes(null) ? null : false,
  };
};

export const toldBy = (error: unknown): Told => {
  const e = error as NodeJS.ErrnoException;
  return { code: e.code ?? 'UNKNOWN', syscall: e.syscall ?? null, path: e.path ?? null, message: e.message };
};
