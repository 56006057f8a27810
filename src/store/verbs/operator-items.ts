/** What a person must see or answer: lists, "seen", and the answer. An answered or closed item stays as it is. */
import type { ReadVerb, WriteVerb } from '../tx.ts';
import { changeItem, itemById, operatorItemFrom, tellItem } from './operator-row.ts';

export const answerOperatorItem: WriteVerb<'answer_operator_item'> = async (tx, { id, status, answer, note, by }) => {
  const row = await itemById(tx, id);
  if (!row) return null;
  const settled = row.status === 'answered' || row.status === 'closed' || row.status === status;
  if (settled) return operatorItemFrom(row);
  const changed = await changeItem(
    tx,
    row,
    status === 'acknowledged'
      ? { status, acknowledged_at: tx.at.now }
      : { status, answer, note: note ?? null, answered_by: by, delivery: row.kind === 'alert' ? null : 'pending' },
  );
  await tellItem(tx, 'operator.changed', changed, { by });
  return operatorItemFrom(changed);
};

export const operatorItem: ReadVerb<'operator_item'> = async (tx, { id }) => {
  const row = await itemById(tx, id);
  return row ? operatorItemFrom(row) : null;
};

export const operatorItems: ReadVerb<'operator_items'> = async (tx, { status, limit }) => {
  let rows = tx.db.selectFrom('operator_items').selectAll().orderBy('id', 'desc').limit(limit);
  if (status === 'pending')
    rows = rows.where((eb) =>
      eb.or([eb('status', '=', 'open'), eb.and([eb('status', '=', 'acknowledged'), eb('kind', '!=', 'alert')])]),
    );
  else if (status !== null) rows = rows.where('status', '=', status);
  return (await rows.execute()).map(operatorItemFrom);
};
