/**
 * A full disk, seen by the writer: the ballast file of the home is freed once, and what is left of the disk is kept for the endings
 * of what runs (R34). New work is refused meanwhile, whole and with a reason, or it would take up what was freed. Whoever laid the
 * file lays it again when the disk has room (server/ballast.ts); that it is there again is the sign that all is well.
 */
import { existsSync, rmSync } from 'node:fs';
import { Fault } from '../../contract/errors.ts';
import { isFull } from './faults.ts';
import type { groupCommit, WriteOrder } from './group-commit.ts';

type Commit = ReturnType<typeof groupCommit>;

const newWork: readonly string[] = ['enqueue', 'enqueue_fan_out'];
const refusal = new Fault(
  'store_failed',
  'The disk is full: what is left of it is kept for the endings of what runs. Nothing was stored; free some space.',
  { shown: true },
);

export const keepForEndings = (commit: Commit, ballast: string): Commit => {
  let freed = false;
  const endingsOnly = async (orders: readonly WriteOrder[]): ReturnType<Commit> => {
    const kept = orders.filter((o) => !newWork.includes(o.verb));
    const outcomes = kept.length === 0 ? [] : [...(await commit(kept))];
    return orders.map((o) => (newWork.includes(o.verb) ? { ok: false, error: refusal } : outcomes.shift()!));
  };
  return async (orders) => {
    if (freed && existsSync(ballast)) freed = false;
    if (freed) return endingsOnly(orders);
    const outcomes = await commit(orders);
    if (!outcomes.some((o) => !o.ok && isFull(o.error)) || !existsSync(ballast)) return outcomes;
    rmSync(ballast, { force: true });
    freed = true;
    return endingsOnly(orders);
  };
};
