/** An edge of an item that is grave enough for the target becomes a notification, in the transaction that made the edge. */
import { type ItemEdge, severityOf } from '../../contract/operator.ts';
import type { Tx } from '../tx.ts';
import { targetOf } from './notify-target.ts';
import { type Item, operatorItemFrom } from './operator-row.ts';

export const notice = async (tx: Tx, row: Item, edge: ItemEdge): Promise<void> => {
  const target = await targetOf(tx);
  if (target === null || severityOf(row.priority) < severityOf(target.min_severity)) return;
  await tx.db
    .insertInto('notifications')
    .values({
      item_id: row.id,
      edge,
      item: JSON.stringify(operatorItemFrom(row)),
      state: 'waiting',
      created_at: tx.at.now,
      created_steady: tx.at.steady,
      due_steady: tx.at.steady,
    })
    .execute();
  tx.stirred.notices = true;
};
