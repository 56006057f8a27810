/**
 * Small files in DROVER_HOME that hold a secret: the owner's token, the local runner's key, the key that seals. Mode 0600,
 * written whole or not at all. Only at start: the calls are synchronous.
 */
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import { Fault } from '../contract/errors.ts';

/** Without its line end; null when there is no such file. A mode that lets others read is tightened. */
export const readSecretFile = (path: string): string | null => {
  try {
    const text = readFileSync(path, 'utf8').trim();
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    return text;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw fileFault(path, 'read', cause);
  }
};

export const writeSecretFile = (path: string, secret: string): void => {
  const part = `${path}.part`;
  try {
    const fd = openSync(part, 'w', 0o600);
    try {
      writeSync(fd, `${secret}\n`);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    // An older part file keeps its mode when it is opened again.
    chmodSync(part, 0o600);
    renameSync(part, path);
  } catch (cause) {
    throw fileFault(path, 'write', cause);
  }
};

const fileFault = (path: string, what: string, cause: unknown): Fault =>
  new Fault(
    'internal',
    `Cannot ${what} ${path} (${(cause as NodeJS.ErrnoException).code ?? cause}). DROVER_HOME needs to belong to this user and to have room.`,
    { cause },
  );
