/** What a person must see or answer. An answered or closed item stays as it is. */
import type { Selectable } from 'kysely';
import type { OperatorItems } from '../schema.ts';
import type { OperatorItemRow } from '../store.ts';
import type { ReadVerb, WriteVerb } from '../tx.ts';
import { tell } from './events.ts';

export const operatorItemFrom = (r: Selectable<OperatorItems>): OperatorItemRow => ({
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
  answer: r.answer,
  created_at: r.created_at,
  updated_at: r.updated_at,
});

export const answerOperatorItem: WriteVerb<'answer_operator_item'> = async (tx, { id, status, answer, by }) => {
  const row = await tx.db.selectFrom('operator_items').selectAll().where('id', '=', id).executeTakeFirst();
  if (!row) return null;
  const settled = row.status === 'answered' || row.status === 'closed' || row.status === status;
  if (settled) return operatorItemFrom(row);
  const changed = { status, answer: answer ?? row.answer, updated_at: tx.at.now };
  await tx.db.updateTable('operator_items').set(changed).where('id', '=', id).execute();
  await tell(tx, {
    type: 'operator.changed',
    ...(row.agent_name !== null && { agent_name: row.agent_name }),
    ...(row.execution_id !== null && { execution_id: row.execution_id }),
    data: { item_id: id, status, by },
  });
  return operatorItemFrom({ ...row, ...changed });
};

export const operatorItems: ReadVerb<'operator_items'> = async (tx, { status, limit }) => {
  let rows = tx.db.selectFrom('operator_items').selectAll().orderBy('id', 'desc').limit(limit);
  if (status !== null) rows = rows.where('status', '=', status as OperatorItemRow['status']);
  return (await rows.execute()).map(operatorItemFrom);
};
