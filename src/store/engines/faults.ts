/** Faults that cross a thread: plain data on the way, a `Fault` again on the other side. */
import { type ErrorCode, Fault } from '../../contract/errors.ts';

export interface SentFault {
  code: ErrorCode;
  message: string;
  cause: string | null;
}

/** The disk or the file: PERM, IOERR, READONLY, CORRUPT, FULL, CANTOPEN, NOTADB (primary result codes of SQLite). */
const broken: ReadonlySet<number> = new Set([3, 8, 10, 11, 13, 14, 26]);

export const isBroken = (error: unknown): boolean => {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === 'number' && broken.has(code & 0xff);
};

/** BUSY, LOCKED: somebody else has the file; we are its only program, so it is a tool of the operator's. */
const isLocked = (error: unknown): boolean => {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === 'number' && [5, 6].includes(code & 0xff);
};
const locked =
  'The database is locked by another program, a backup tool perhaps. Nothing was stored; it goes on when the lock is gone. `drover backup` copies it without a lock.';

export const sendFault = (error: unknown): SentFault => {
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (error instanceof Fault) return { code: error.code, message: error.message, cause };
  const said = error instanceof Error ? error.message : String(error);
  if (isLocked(error)) return { code: 'store_failed', message: locked, cause };
  return isBroken(error)
    ? { code: 'store_failed', message: `The store cannot write or read: ${said}. Nothing was stored.`, cause }
    : { code: 'internal', message: `A verb of the store failed: ${said}`, cause };
};

export const receiveFault = (sent: SentFault): Fault =>
  new Fault(sent.code, sent.message, sent.cause === null ? undefined : { cause: sent.cause });
