/**
 * The key that seals credentials: DROVER_SECRET_KEY, else `DROVER_HOME/secret.key`, made at the first start. A key that is
 * there is never replaced, and one that is missing while rows are sealed with it is not made anew: what it sealed would be lost.
 * A backup of the database is worth nothing without it.
 */
import { join } from 'node:path';
import { Fault } from '../contract/errors.ts';
import type { Random } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import { openedOrNull, type Sealer, sealer } from './seal.ts';
import { readSecretFile, writeSecretFile } from './secret-file.ts';

/** What the store holds sealed: `id` is what it is bound to, `name` what a person calls it. */
export interface SealedRow {
  id: string;
  name: string;
  sealed: string;
}

export const loadSealer = (
  config: { home: string; secretKey: string | null },
  { random, log }: { random: Random; log: Log },
  rows: readonly SealedRow[],
): Sealer => {
  const box = sealer(config.secretKey ?? keyOfHome(config.home, random, rows), random);
  const shut = rows.filter((row) => openedOrNull(box, row.id, row.sealed) === null);
  if (shut.length > 0)
    log.warn(
      `${namesOf(shut)} cannot be opened with this key: ${config.secretKey === null ? join(config.home, 'secret.key') : 'DROVER_SECRET_KEY'} is another one than when they were stored. Put the old key back and start again, or store them anew (drover creds add, drover notify).`,
    );
  return box;
};

const namesOf = (rows: readonly SealedRow[]): string => rows.map((row) => row.name).join(', ');

const keyOfHome = (home: string, random: Random, rows: readonly SealedRow[]): string => {
  const path = join(home, 'secret.key');
  const stored = readSecretFile(path);
  if (stored === null) {
    if (rows.length > 0)
      throw new Fault(
        'not_ready',
        `${path} is missing, and the database holds what only that key opens: ${namesOf(rows)}. Put the file back from a backup, or set DROVER_SECRET_KEY to the key. To go on without what is sealed, make a new key (head -c 32 /dev/urandom | base64 > ${path}; chmod 600 ${path}), start, and store it anew.`,
      );
    const key = Buffer.from(random.bytes(32)).toString('base64');
    writeSecretFile(path, key);
    return key;
  }
  if (Buffer.from(stored, 'base64').length !== 32)
    throw new Fault(
      'internal',
      `${path} does not hold 32 bytes in base64. Put the right key back from a backup; to start anew without the stored credentials, move the file away.`,
    );
  return stored;
};
