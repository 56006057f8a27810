/** One row of operator_items as the rest of the server sees it, and the event that tells of a change to it. */
import type { Selectable } from 'kysely';
import type { EventType } from '../../contract/events.ts';
import type { OperatorItemRow } from '../../contract/operator.ts';
import type { OperatorItems } from '../schema.ts';
import { lit, statement } from '../statement.ts';
import type { ReadTx, Tx } from '../tx.ts';
import { tell } from './events.ts';

export type Item = Selectable<OperatorItems>;

export const operatorItemFrom = (r: Item): OperatorItemRow => ({
  id: r.id,
  kind: r.kind,
  dedup_key: r.dedup_key,
  priority: r.priority,
  title: r.title,
  evidence: JSON.parse(r.evidence) as string[],
  agent_name: r.agent_name,
  execution_id: r.execution_id,
  status: r.status,
  count: r.count,
  options: r.options === null ? [] : (JSON.parse(r.options) as string[]),
  answer: r.answer,
  note: r.note,
  answered_by: r.answered_by,
  delivery: r.delivery,
  delivery_note: r.delivery_note,
  answer_execution_id: r.answer_execution_id,
  session_id: r.session_id,
  created_at: r.created_at,
  updated_at: r.updated_at,
  last_at: r.last_at ?? r.created_at,
  acknowledged_at: r.acknowledged_at,
});

export const itemById = (tx: ReadTx, id: string): Promise<Item | undefined> =>
  tx.db.selectFrom('operator_items').selectAll().where('id', '=', id).executeTakeFirst();

const liveOf = statement<{ one: string; other: string }, Item>((db, s) =>
  db
    .selectFrom('operator_items')
    .selectAll()
    .where('subject', 'in', [s.one, s.other])
    .where('status', 'in', [lit.open, lit.acknowledged])
    .orderBy('id'),
);

/** Open or acknowledged; `''` is the fleet. */
export const liveItems = async (tx: Tx, ...subjects: [string] | [string, string]): Promise<Item[]> =>
  (await liveOf(tx, { one: subjects[0], other: subjects.at(-1)! })).rows;

export const changeItem = async (tx: Tx, row: Item, change: Partial<Item>): Promise<Item> => {
  const changed = { ...change, updated_at: tx.at.now };
  await tx.db.updateTable('operator_items').set(changed).where('id', '=', row.id).execute();
  return { ...row, ...changed };
};

export const tellItem = (
  tx: Tx,
  type: Extract<EventType, `operator.${string}`>,
  row: Item,
  more: Record<string, unknown> = {},
): Promise<void> =>
  tell(tx, {
    type,
    ...(row.execution_id !== null && { execution_id: row.execution_id }),
    ...(row.agent_name !== null && { agent_name: row.agent_name }),
    data: { item_id: row.id, kind: row.kind, priority: row.priority, status: row.status, count: row.count, ...more },
  });
