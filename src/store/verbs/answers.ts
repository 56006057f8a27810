/**
 * An answer on its way back to who asked: `pending` until the living execution takes it, or a turn that carries it is queued. Each
 * step is a compare-and-set on `pending`, so that an answer arrives once, whoever comes first.
 */
import { sql } from 'kysely';
import type { ExecutionRequest } from '../../contract/execution.ts';
import type { ReadVerb, WriteVerb } from '../tx.ts';
import { executionById } from './execution-row.ts';
import { changeItem, itemById, operatorItemFrom, tellItem } from './operator-row.ts';

export const takeAnswer: WriteVerb<'take_answer'> = async (tx, { id, token }) => {
  const row = await itemById(tx, id);
  if (row?.delivery !== 'pending' || row.execution_id === null) return null;
  const asker = await executionById(tx, row.execution_id);
  if (!asker || asker.token === null || (token !== null && asker.token !== token)) return null;
  const taken = await changeItem(tx, row, { delivery: 'returned', delivery_note: null });
  await tellItem(tx, 'operator.changed', taken, { delivery: 'returned' });
  return operatorItemFrom(taken);
};

export const answerDelivered: WriteVerb<'answer_delivered'> = async (tx, { id, delivery, execution_id, note }) => {
  const row = await itemById(tx, id);
  if (!row) return null;
  if (row.delivery !== 'pending' || (delivery === 'pending' && row.delivery_note === note))
    return operatorItemFrom(row);
  const done = await changeItem(tx, row, { delivery, delivery_note: note, answer_execution_id: execution_id });
  await tellItem(tx, 'operator.changed', done, { delivery });
  return operatorItemFrom(done);
};

export const answersDue: ReadVerb<'answers_due'> = async (tx, { id, limit }) => {
  let rows = tx.db
    .selectFrom('operator_items as i')
    .leftJoin('executions as e', 'e.id', 'i.execution_id')
    .leftJoin('execution_texts as t', 't.execution_id', 'e.id')
    .selectAll('i')
    .select(['t.options as asked_with', 'e.timeout_s'])
    .where('i.delivery', '=', sql.lit('pending' as const))
    // Of an execution that lives, it may still come for it; one that was deleted has ended.
    .where((eb) => eb.or([eb('e.id', 'is', null), eb('e.completed_at', 'is not', null)]))
    .orderBy('i.id')
    .limit(limit);
  if (id !== null) rows = rows.where('i.id', '=', id);
  return (await rows.execute()).map(({ asked_with, timeout_s, ...item }) => ({
    item: operatorItemFrom(item),
    options: asked_with === null ? {} : (JSON.parse(asked_with) as ExecutionRequest['options']),
    timeout_s,
  }));
};
