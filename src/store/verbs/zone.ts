/** The installation's time zone: the stored setting, else that of the host. */
import { installationSettings } from '../../contract/limits.ts';
import { hostZone, isZone } from '../../kernel/zone.ts';
import { statement } from '../statement.ts';
import type { ReadTx, ReadVerb } from '../tx.ts';

const stored = statement<{ key: string }, { value: string }>((db, s) =>
  db.selectFrom('settings').select('value').where('key', '=', s.key),
);

export const zoneOf = async (tx: ReadTx): Promise<string> => {
  const value = (await stored(tx, { key: installationSettings.timezone })).rows[0]?.value;
  return value !== undefined && isZone(value) ? value : hostZone();
};

export const timezone: ReadVerb<'timezone'> = (tx) => zoneOf(tx);
