/** Seals secrets at rest with AES-256-GCM: base64 of nonce (12), tag (16), ciphertext. The id is bound as associated data. */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { Fault } from '../contract/errors.ts';
import type { Random } from '../kernel/ids.ts';

export interface Sealer {
  seal(id: string, secret: string): string;
  /** Throws a Fault when the key is another one or the row was changed. */
  open(id: string, sealed: string): string;
}

export const sealer = (keyBase64: string, random: Random): Sealer => {
  const key = Buffer.from(keyBase64, 'base64');
  return {
    seal(id, secret) {
      const nonce = Buffer.from(random.bytes(12));
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(id));
      const body = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
    },
    open(id, sealed) {
      const raw = Buffer.from(sealed, 'base64');
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, raw.subarray(0, 12)).setAAD(Buffer.from(id));
        decipher.setAuthTag(raw.subarray(12, 28));
        return Buffer.concat([decipher.update(raw.subarray(28)), decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new Fault(
          'internal',
          `The secret of credential ${id} does not open with this key. Was DROVER_HOME/secret.key or DROVER_SECRET_KEY changed?`,
          { cause },
        );
      }
    },
  };
};

/** For showing something of a secret: null when it does not open, which must not hide the rest of a list. */
export const openedOrNull = (box: Sealer, id: string, sealed: string): string | null => {
  try {
    return box.open(id, sealed);
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
};
