/** Operator items: one open per subject and key; the same thing again only counts up (R42). */
import type { NewOperatorItem, OperatorItemRow } from '../store.ts';
import type { Tx, WriteVerb } from '../tx.ts';
import { tell } from './events.ts';
import { operatorItemFrom } from './operator-items.ts';

/** More would bury what matters: beyond it, an agent's new items join its oldest open one. */
const openMax = 25;

export const raise = async (
  tx: Tx,
  item: NewOperatorItem,
  about: { agent_name: string | null; execution_id: string | null },
): Promise<OperatorItemRow> => {
  const { now } = tx.at;
  const subject = about.agent_name ?? '';
  const open = await tx.db
    .selectFrom('operator_items')
    .selectAll()
    .where('subject', '=', subject)
    .where('status', '=', 'open')
    .orderBy('id')
    .execute();
  const same = open.find((o) => o.dedup_key === item.dedup_key) ?? (open.length >= openMax ? open[0] : undefined);
  const evidence = JSON.stringify(item.evidence);
  if (same)
    await tx.db
      .updateTable('operator_items')
      .set({
        count: same.count + 1,
        updated_at: now,
        ...(same.dedup_key === item.dedup_key
          ? { title: item.title, evidence, priority: item.priority, execution_id: about.execution_id }
          : {}),
      })
      .where('id', '=', same.id)
      .execute();
  else
    await tx.db
      .insertInto('operator_items')
      .values({
        id: item.id,
        kind: item.kind,
        subject,
        dedup_key: item.dedup_key,
        agent_name: about.agent_name,
        execution_id: about.execution_id,
        priority: item.priority,
        title: item.title,
        evidence,
        status: 'open',
        created_at: now,
        updated_at: now,
      })
      .execute();
  const id = same?.id ?? item.id;
  await tell(tx, {
    type: same ? 'operator.changed' : 'operator.opened',
    ...(about.execution_id === null ? {} : { execution_id: about.execution_id }),
    ...(about.agent_name === null ? {} : { agent_name: about.agent_name }),
    data: { id, kind: item.kind, priority: item.priority },
  });
  const row = await tx.db.selectFrom('operator_items').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  return operatorItemFrom(row);
};

export const putOperatorItem: WriteVerb<'put_operator_item'> = (tx, { item, agent_name, execution_id }) =>
  raise(tx, item, { agent_name, execution_id });
