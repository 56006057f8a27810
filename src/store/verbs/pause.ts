/** Pause of the fleet: no root work is claimed, and what runs ends with the calls it makes (R16). Events only when it changes. */
import { fleetSettings } from '../../contract/limits.ts';
import type { WriteVerb } from '../tx.ts';
import { tell } from './events.ts';
import { isPaused } from './fleet-settings.ts';
import { takeResumes } from './take-resumes.ts';

export const setPaused: WriteVerb<'set_paused'> = async (tx, { paused, by }) => {
  if ((await isPaused(tx)) === paused) return { paused };
  const key = fleetSettings.paused;
  await tx.db.deleteFrom('settings').where('key', '=', key).execute();
  if (paused) await tx.db.insertInto('settings').values({ key, value: '1', updated_at: tx.at.now }).execute();
  await tell(tx, { type: paused ? 'fleet.paused' : 'fleet.resumed', data: { by } });
  tx.stirred.limits_changed = true;
  tx.stirred.claimable = true;
  await takeResumes(tx);
  return { paused };
};
