/** Settings that people change at run time. A fleet limit acts at the next claim and ends nothing. */
import { isLendingSetting } from '../../contract/credential.ts';
import { isFleetSetting } from '../../contract/limits.ts';
import type { ReadVerb, WriteVerb } from '../tx.ts';
import { tell } from './events.ts';
import { takeResumes } from './take-resumes.ts';

export const putSetting: WriteVerb<'put_setting'> = async (tx, { key, value }) => {
  await tx.db.deleteFrom('settings').where('key', '=', key).execute();
  if (value !== null) await tx.db.insertInto('settings').values({ key, value, updated_at: tx.at.now }).execute();
  if (isFleetSetting(key)) {
    await tell(tx, { type: 'limits.changed', data: { key, value } });
    tx.stirred.limits_changed = true;
    tx.stirred.claimable = true;
    await takeResumes(tx);
  }
  if (isLendingSetting(key)) tx.stirred.claimable = true;
  return { ok: true };
};

export const setting: ReadVerb<'setting'> = async (tx, { key }) =>
  (await tx.db.selectFrom('settings').selectAll().where('key', '=', key).executeTakeFirst()) ?? null;

export const settings: ReadVerb<'settings'> = async (tx) =>
  tx.db.selectFrom('settings').selectAll().orderBy('key').execute();
