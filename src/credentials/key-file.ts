/**
 * The key that seals credentials: DROVER_SECRET_KEY, else `DROVER_HOME/secret.key`, made at the first start. A key that is
 * there is never replaced: what it sealed would be lost. A backup of the database is worth nothing without it.
 */
import { join } from 'node:path';
import { Fault } from '../contract/errors.ts';
import type { Random } from '../kernel/ids.ts';
import { type Sealer, sealer } from './seal.ts';
import { readSecretFile, writeSecretFile } from './secret-file.ts';

export const loadSealer = (config: { home: string; secretKey: string | null }, random: Random): Sealer =>
  sealer(config.secretKey ?? keyOfHome(config.home, random), random);

const keyOfHome = (home: string, random: Random): string => {
  const path = join(home, 'secret.key');
  const stored = readSecretFile(path);
  if (stored === null) {
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
