/**
 * A list of executions, newest first or (what waits) oldest first, as it grows at both ends: the head is read again on every change of the fleet, older pages
 * hang on below as a person scrolls. Pure. Reading all pages again on every event would cost a request per page and per event.
 */
import type { ExecutionBody } from '../../../src/client/wire.ts';

export interface RunList {
  rows: ExecutionBody[];
  /** Where the next older page begins; null = this is all there is. */
  next: string | null;
}

interface Page {
  executions: ExecutionBody[];
  next: string | null;
}

type Order = 'newest' | 'oldest';

/** Ids sort by time. */
const beyond = (id: string, end: string, order: Order): boolean => (order === 'newest' ? id < end : id > end);

/**
 * The first page again. It tells of everything down to its `next`: there it replaces (a row that left the filter is gone); what is
 * beyond stays. When more has come since than one page holds there would be a hole, so the list begins anew. A page of a search may
 * hold nothing and still have a `next`: what was looked through already is not looked through again.
 */
export const joinHead = (old: RunList | undefined, head: Page, order: Order = 'newest'): RunList => {
  const end = head.next;
  const first = old?.rows[0];
  if (old === undefined || end === null || (first !== undefined && beyond(first.id, end, order)))
    return { rows: head.executions, next: end };
  const rest = old.rows.filter((row) => beyond(row.id, end, order));
  const next = old.next === null || beyond(old.next, end, order) ? old.next : end;
  return { rows: [...head.executions, ...rest], next };
};

/** An older page at the end. Two that were asked for at once are one. */
export const joinTail = (old: RunList, tail: Page, order: Order = 'newest'): RunList => {
  const end = old.rows.at(-1)?.id;
  const fresh = end === undefined ? tail.executions : tail.executions.filter((row) => beyond(row.id, end, order));
  return { rows: [...old.rows, ...fresh], next: tail.next };
};
