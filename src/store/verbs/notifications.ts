/**
 * Notifications on their way: taken by a sender for a while (a sender that dies gives them back by time alone), then sent, tried
 * again later, or given up. At least once: a sender that dies between the answer and this record sends the same id again.
 */
import { type Selectable, sql } from 'kysely';
import { type NotificationRow, type OperatorItemRow, unreachedKey } from '../../contract/operator.ts';
import type { Database } from '../schema.ts';
import type { ReadVerb, WriteVerb } from '../tx.ts';
import { closeFleetItem } from './close-items.ts';

/** As a literal: a bound state is planned again at each run. */
const waits = sql.lit('waiting' as const);

const notificationFrom = ({ due_steady: _, ...r }: Selectable<Database['notifications']>): NotificationRow => ({
  ...r,
  item: JSON.parse(r.item) as OperatorItemRow,
});

export const takeNotifications: WriteVerb<'take_notifications'> = async (tx, { max, hold_ms }) => {
  const { steady } = tx.at;
  const waiting = tx.db.selectFrom('notifications').where('state', '=', waits).orderBy('due_steady').orderBy('id');
  const due = await waiting.selectAll().where('due_steady', '<=', steady).limit(max).execute();
  for (const { id } of due)
    await tx.db
      .updateTable('notifications')
      .set({ due_steady: steady + hold_ms })
      .where('id', '=', id)
      .execute();
  const next = await waiting.select('due_steady').limit(1).executeTakeFirst();
  return { taken: due.map(notificationFrom), next_due: next?.due_steady ?? null };
};

export const notificationTried: WriteVerb<'notification_tried'> = async (tx, args) => {
  const row = await tx.db.selectFrom('notifications').selectAll().where('id', '=', args.id).executeTakeFirst();
  if (row?.state !== 'waiting') return { ok: true };
  const over = args.ok || args.retry_at === null;
  await tx.db
    .updateTable('notifications')
    .set({
      attempts: row.attempts + 1,
      state: args.ok ? 'sent' : over ? 'gave_up' : 'waiting',
      ended_at: over ? tx.at.now : null,
      last_error: args.ok ? null : args.error,
      ...(!args.ok && args.retry_at !== null && { due_steady: args.retry_at }),
    })
    .where('id', '=', args.id)
    .execute();
  if (args.ok) await closeFleetItem(tx, unreachedKey, 'a notification was taken');
  return { ok: true };
};

export const notifications: ReadVerb<'notifications'> = async (tx, { limit }) =>
  (await tx.db.selectFrom('notifications').selectAll().orderBy('id', 'desc').limit(limit).execute()).map(
    notificationFrom,
  );
