/** Where notifications go: one target, its address and secret sealed. Switched off, what still waits is given up. */
import type { NotifyTargetRow } from '../../contract/operator.ts';
import type { ReadTx, ReadVerb, WriteVerb } from '../tx.ts';

const only = 'webhook';

export const targetOf = async (tx: ReadTx): Promise<NotifyTargetRow | null> => {
  const row = await tx.db.selectFrom('notify_targets').selectAll().where('id', '=', only).executeTakeFirst();
  if (!row) return null;
  const { id: _, signed, ...rest } = row;
  return { ...rest, signed: signed === 1 };
};

export const notifyTarget: ReadVerb<'notify_target'> = (tx) => targetOf(tx);

export const putNotifyTarget: WriteVerb<'put_notify_target'> = async (tx, { target }) => {
  const { now, steady } = tx.at;
  const before = await targetOf(tx);
  await tx.db.deleteFrom('notify_targets').where('id', '=', only).execute();
  const waiting = tx.db.updateTable('notifications').where('state', '=', 'waiting');
  if (target === null) {
    const last_error = 'notifications were switched off';
    await waiting.set({ state: 'gave_up', ended_at: now, last_error }).execute();
    return { ok: true };
  }
  const signed = target.signed ? (1 as const) : (0 as const);
  await tx.db
    .insertInto('notify_targets')
    .values({ ...target, id: only, signed, created_at: before?.created_at ?? now, updated_at: now })
    .execute();
  // What waited for the old address is tried at the new one at once.
  await waiting.set({ due_steady: steady }).execute();
  tx.stirred.notices = true;
  return { ok: true };
};
