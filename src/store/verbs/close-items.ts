/**
 * Items whose cause is over close by themselves. A success closes what told of a state (a login, a program, a setting) when it
 * was claimed after the trouble was seen last; what told of one event (a kill, a crash) also had to be quiet for a day or be
 * acknowledged, so that a small task that went well does not hide why a big one died.
 */
import { sql } from 'kysely';
import type { Tx } from '../tx.ts';
import { changeItem, type Item, liveItems, tellItem } from './operator-row.ts';

export const closeItem = async (tx: Tx, row: Item, why: string): Promise<void> => {
  await tellItem(tx, 'operator.changed', await changeItem(tx, row, { status: 'closed' }), { why });
};

/** Of the fleet, what a run that went well on a runner says is over. */
export const runnerLostKey = (runner_id: string): string => `runner_lost:${runner_id}`;

interface Went {
  agent_name: string;
  runner_id: string | null;
  claimed_at: number;
  /** Keys that this very ending raised: they are not over. */
  raised: readonly string[];
}

export const closeAfterSuccess = async (tx: Tx, went: Went): Promise<void> => {
  for (const item of await liveItems(tx, went.agent_name, '')) {
    const of = item.subject !== '' || (went.runner_id !== null && item.dedup_key === runnerLostKey(went.runner_id));
    if (!of || item.kind !== 'alert' || item.quiet_ms === null || went.raised.includes(item.dedup_key)) continue;
    const last = item.last_at ?? item.created_at;
    const quiet = item.status === 'acknowledged' || tx.at.now - last >= item.quiet_ms;
    if (went.claimed_at >= last && quiet) await closeItem(tx, item, 'a later run went well');
  }
};

/** Nobody waits for an answer any more. */
export const closeQuestionsOf = async (tx: Tx, row: { id: string; agent_name: string }): Promise<void> => {
  for (const item of await liveItems(tx, row.agent_name))
    if (item.kind !== 'alert' && item.execution_id === row.id) await closeItem(tx, item, 'its execution was cancelled');
};

/** Answers on their way go nowhere, too: another agent made under the name has asked nothing (drill 36). */
export const closeItemsOfAgent = async (tx: Tx, agent_name: string): Promise<void> => {
  const why = 'its agent was deleted';
  for (const item of await liveItems(tx, agent_name)) await closeItem(tx, item, why);
  const pending = tx.db
    .selectFrom('operator_items')
    .selectAll()
    .where('delivery', '=', sql.lit('pending' as const))
    .where('subject', '=', agent_name);
  for (const item of await pending.execute()) {
    const failed = await changeItem(tx, item, { delivery: 'failed', delivery_note: why });
    await tellItem(tx, 'operator.changed', failed, { delivery: 'failed' });
  }
};

export const closeFleetItem = async (tx: Tx, dedup_key: string, why: string): Promise<void> => {
  for (const item of await liveItems(tx, '')) if (item.dedup_key === dedup_key) await closeItem(tx, item, why);
};
