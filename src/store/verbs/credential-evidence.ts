/**
 * What an attempt showed about its credential. Failures are appended whether or not anything switches; the newest evidence sets
 * the state. A success clears what it disproves: a rejected login, a limit whose reset has passed; never a limit still to run,
 * because a run that began before it may end well after it.
 */
import type { Cause } from '../../contract/causes.ts';
import type { SettleArgs } from '../store.ts';
import type { Tx } from '../tx.ts';
import { tell } from './events.ts';

export const failedWith = async (
  tx: Tx,
  credential_id: string,
  about: { agent_name: string; execution_id: string; cause: Cause },
  event: NonNullable<SettleArgs['credential_event']>,
): Promise<void> => {
  await tx.db
    .insertInto('credential_events')
    .values({ at: tx.at.now, credential_id, ...about, ...event })
    .execute();
  const { changes } = await set(tx, credential_id, {
    state: event.state,
    until: event.until,
    last_evidence: event.evidence,
  });
  if (changes > 0) await changed(tx, credential_id, event.state);
};

export const workedWith = async (tx: Tx, credential_id: string): Promise<void> => {
  const c = await tx.db
    .selectFrom('credentials')
    .select(['state', 'until'])
    .where('id', '=', credential_id)
    .executeTakeFirst();
  if (!c || c.state === 'ok') return;
  if (c.state === 'limited' && c.until !== null && c.until > tx.at.now) return;
  await set(tx, credential_id, { state: 'ok', until: null });
  await changed(tx, credential_id, 'ok');
};

const set = async (
  tx: Tx,
  id: string,
  to: { state: 'ok' | 'limited' | 'rejected'; until: number | null; last_evidence?: string },
) => {
  const done = await tx.db.updateTable('credentials').set(to).where('id', '=', id).executeTakeFirst();
  return { changes: Number(done.numUpdatedRows) };
};

const changed = (tx: Tx, credential_id: string, state: string) =>
  tell(tx, { type: 'credential.changed', data: { credential_id, state } });
