/** Faults that cross a thread: plain data on the way, a `Fault` again on the other side. */
import { type ErrorCode, Fault } from '../../contract/errors.ts';

export interface SentFault {
  code: ErrorCode;
  message: string;
  shown: boolean;
  cause: string | null;
}

/** The disk or the file: PERM, IOERR, READONLY, CORRUPT, FULL, CANTOPEN, NOTADB (primary result codes of SQLite). */
const broken: ReadonlySet<number> = new Set([3, 8, 10, 11, 13, 14, 26]);

export const isBroken = (error: unknown): boolean => {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === 'number' && broken.has(code & 0xff);
};

/** SQLITE_FULL. */
export const isFull = (error: unknown): boolean => {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === 'number' && (code & 0xff) === 13;
};
const full = 'The disk is full. Nothing was stored; free some space.';

/** BUSY, LOCKED: somebody else has the file; we are its only program, so it is a tool of the operator's. */
const isLocked = (error: unknown): boolean => {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === 'number' && [5, 6].includes(code & 0xff);
};
const locked =
  'The database is locked by another program, a backup tool perhaps. Nothing was stored; it goes on when the lock is gone. `drover backup` copies it without a lock.';

export const sendFault = (error: unknown): SentFault => {
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (error instanceof Fault) return { code: error.code, message: error.message, shown: error.shown, cause };
  const said = error instanceof Error ? error.message : String(error);
  const forPeople = isLocked(error) ? locked : isFull(error) ? full : null;
  if (forPeople !== null) return { code: 'store_failed', message: forPeople, shown: true, cause };
  const [code, message] = isBroken(error)
    ? (['store_failed', `The store cannot write or read: ${said}. Nothing was stored.`] as const)
    : (['internal', `A verb of the store failed: ${said}`] as const);
  return { code, message, shown: false, cause };
};

export const receiveFault = (sent: SentFault): Fault =>
  new Fault(sent.code, sent.message, {
    shown: sent.shown,
    ...(sent.cause === null ? {} : { cause: sent.cause }),
  });
