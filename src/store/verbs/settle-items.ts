/** What an ending means for the inbox: its alerts, a cause that comes again and again, and what a success says is over. */
import { itemLimits, type NewOperatorItem } from '../../contract/operator.ts';
import type { SettleArgs } from '../store.ts';
import type { Tx } from '../tx.ts';
import { closeAfterSuccess } from './close-items.ts';
import type { Ending } from './end.ts';
import type { Row } from './execution-row.ts';
import { raise } from './raise-item.ts';
import { endStreak, streakOf } from './streak.ts';

/** `ended`: null for an attempt that is tried again, or that came too late to be an ending. */
export const tellOperator = async (
  tx: Tx,
  row: Row,
  claimed_at: number,
  args: SettleArgs,
  ended: Ending['status'] | null,
): Promise<void> => {
  const repeated = ended === 'failed' ? await repetition(tx, row, args) : null;
  // One item per key: the repetition says what the single one would, and how often.
  const items = repeated
    ? [...args.operator_items.filter((i) => i.dedup_key !== repeated.dedup_key), repeated]
    : args.operator_items;
  for (const item of items) await raise(tx, item, { agent_name: row.agent_name, execution_id: row.id });
  if (ended !== 'success') return;
  await endStreak(tx, row.agent_id);
  const { agent_name, runner_id } = row;
  await closeAfterSuccess(tx, { agent_name, runner_id, claimed_at, raised: items.map((i) => i.dedup_key) });
};

const repetition = async (tx: Tx, row: Row, args: SettleArgs): Promise<NewOperatorItem | null> => {
  if (args.repeated === null) return null;
  const times = await streakOf(tx, row.agent_id, args.verdict.cause);
  return times < itemLimits.streak
    ? null
    : { ...args.repeated, title: `${args.repeated.title}, ${times} times in a row` };
};
