/**
 * Is any runner here, and has its absence been told? Asked by a sweep (dispatch/sweeps.ts), which speaks up only at the edges:
 * one item per episode, closed as soon as a runner is back.
 */
import { noRunnerKey } from '../../contract/operator.ts';
import type { ReadVerb, WriteVerb } from '../tx.ts';
import { closeFleetItem } from './close-items.ts';

export const runnerWatch: ReadVerb<'runner_watch'> = async (tx, { since }) => {
  const here = await tx.db
    .selectFrom('runners')
    .select('id')
    .where('seen_steady', '>=', since)
    .limit(1)
    .executeTakeFirst();
  const told = await tx.db
    .selectFrom('operator_items')
    .select('id')
    .where('subject', '=', '')
    .where('dedup_key', '=', noRunnerKey)
    .where('status', 'in', ['open', 'acknowledged'])
    .executeTakeFirst();
  return { here: here !== undefined, told: told !== undefined };
};

export const runnerIsHere: WriteVerb<'runner_is_here'> = async (tx) => {
  await closeFleetItem(tx, noRunnerKey, 'a runner is here again');
  return { ok: true };
};
