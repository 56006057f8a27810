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
 * The first page again. What it covers it replaces (a row that left the filter is gone); what is older stays. When more has come
 * since than one page holds there would be a hole, so the list begins anew.
 */
export const joinHead = (old: RunList | undefined, head: Page, order: Order = 'newest'): RunList => {
  const last = head.executions.at(-1);
  const first = old?.rows[0];
  if (
    old === undefined ||
    last === undefined ||
    first === undefined ||
    head.next === null ||
    beyond(first.id, last.id, order)
  )
    return { rows: head.executions, next: head.next };
  const older = old.rows.filter((row) => beyond(row.id, last.id, order));
  return { rows: [...head.executions, ...older], next: older.length === 0 ? head.next : old.next };
};

/** An older page at the end. Two that were asked for at once are one. */
export const joinTail = (old: RunList, tail: Page, order: Order = 'newest'): RunList => {
  const end = old.rows.at(-1)?.id;
  const fresh = end === undefined ? tail.executions : tail.executions.filter((row) => beyond(row.id, end, order));
  return { rows: [...old.rows, ...fresh], next: tail.next };
};
