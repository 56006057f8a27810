/**
 * Passwords as scrypt hashes, off the event loop, one at a time: sixteen log-ins at once must not take the thread pool from
 * the disk. N=2^14, r=8, p=5 is OWASP's choice for 16 MB; about 150 ms on the small machine it was measured on. The
 * parameters stand in the hash, so that they can rise later.
 */
import { scrypt, timingSafeEqual } from 'node:crypto';
import { errors, type Refusal, refuse } from '../contract/errors.ts';
import type { Random } from '../kernel/ids.ts';

const cost = { N: 16_384, r: 8, p: 5 };
const keyBytes = 32;
const shortest = 8;
/** Longer ones would make the server hash what nobody types. */
const longest = 1_000;

/** Null = fine. */
export const checkNewPassword = (password: string, repeated: string): Refusal | null => {
  if (password.length < shortest) return refuse('weak_password', errors.weak_password.hint);
  if (password.length > longest) return refuse('weak_password', `The password may have at most ${longest} characters.`);
  return password === repeated ? null : refuse('password_mismatch', errors.password_mismatch.hint);
};

let last: Promise<unknown> = Promise.resolve();
/** One after the other, whoever asks. */
const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
  const turn = last.then(run, run);
  last = turn.catch(() => {});
  return turn;
};

const derive = (password: string, salt: Buffer, o: typeof cost, length: number): Promise<Buffer> =>
  inTurn(
    () =>
      new Promise((resolve, reject) => {
        // NFKC: the same password typed on another keyboard has the same bytes.
        scrypt(password.normalize('NFKC'), salt, length, { ...o, maxmem: 256 * o.N * o.r }, (error, key) =>
          error === null ? resolve(key) : reject(error),
        );
      }),
  );

export const hashPassword = async (password: string, random: Random): Promise<string> => {
  const salt = Buffer.from(random.bytes(16));
  const key = await derive(password, salt, cost, keyBytes);
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join('$');
};

/** Takes as long for a null hash (no such user) as for a wrong password. */
export const checkPassword = async (password: string, hash: string | null): Promise<boolean> => {
  const [kind, N, r, p, salt, key] = (hash ?? nobody).split('$');
  if (kind !== 'scrypt' || salt === undefined || key === undefined) return false;
  const stored = Buffer.from(key, 'base64url');
  const o = { N: Number(N), r: Number(r), p: Number(p) };
  const derived = await derive(password, Buffer.from(salt, 'base64url'), o, stored.length);
  return timingSafeEqual(derived, stored) && hash !== null;
};

const nobody = [
  'scrypt',
  cost.N,
  cost.r,
  cost.p,
  'bm9ib2R5bm9ib2R5',
  Buffer.alloc(keyBytes).toString('base64url'),
].join('$');
