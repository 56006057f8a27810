import { describe, expect, it } from 'vitest';
import type { ExecutionBody } from '../../../src/client/wire.ts';
import { joinHead, joinTail, type RunList } from './run-list.ts';

const rows = (...ids: string[]) => ids.map((id) => ({ id, status: 'success' }) as ExecutionBody);
const ids = (list: RunList) => list.rows.map((r) => r.id).join('');

describe('a list of executions that grows at both ends', () => {
  it('takes new rows at the head and keeps the older pages below', () => {
    const first = joinHead(undefined, { executions: rows('e', 'd'), next: 'd' });
    const more = joinTail(first, { executions: rows('c', 'b'), next: 'b' });
    expect(ids(more)).toBe('edcb');
    const later = joinHead(more, { executions: rows('f', 'e'), next: 'e' });
    expect(ids(later)).toBe('fedcb');
    expect(later.next).toBe('b');
  });

  it('lets a row go that left the filter, where the new head has been', () => {
    const old: RunList = { rows: rows('e', 'd', 'c', 'b'), next: 'b' };
    expect(ids(joinHead(old, { executions: rows('f', 'd'), next: 'd' }))).toBe('fdcb');
  });

  it('begins anew when more has come than a page holds: a hole would be a lie', () => {
    const old: RunList = { rows: rows('c', 'b'), next: 'b' };
    expect(joinHead(old, { executions: rows('f', 'e'), next: 'e' })).toEqual({ rows: rows('f', 'e'), next: 'e' });
  });

  it('is the head alone when the head is all there is', () => {
    expect(joinHead({ rows: rows('c', 'b'), next: null }, { executions: rows('c'), next: null })).toEqual({
      rows: rows('c'),
      next: null,
    });
  });

  it('does not look through again what a search has looked through, though it found nothing there', () => {
    const walked: RunList = { rows: [], next: 'c' };
    expect(joinHead(walked, { executions: [], next: 'k' })).toEqual({ rows: [], next: 'c' });
    const found: RunList = { rows: rows('b'), next: null };
    expect(joinHead({ rows: [], next: null }, { executions: [], next: 'k' })).toEqual({ rows: [], next: null });
    expect(joinHead(found, { executions: rows('m'), next: 'a' })).toEqual({ rows: rows('m'), next: null });
  });

  it('goes the other way for what waits: who leaves the head makes room, who comes hangs on at the end', () => {
    const old: RunList = { rows: rows('a', 'b', 'c', 'd'), next: 'd' };
    const later = joinHead(old, { executions: rows('b', 'c'), next: 'c' }, 'oldest');
    expect(ids(later)).toBe('bcd');
    expect(ids(joinTail(later, { executions: rows('d', 'e'), next: null }, 'oldest'))).toBe('bcde');
  });

  it('takes a page that was asked for twice once', () => {
    const old: RunList = { rows: rows('d', 'c'), next: 'c' };
    const page = { executions: rows('b', 'a'), next: null };
    expect(ids(joinTail(joinTail(old, page), page))).toBe('dcba');
  });
});
