/** What lending looks at: every credential without its secret, and the pools that may cross from a subscription to an API key. */
import { type Headroom, lendingSettings } from '../../contract/credential.ts';
import type { ClaimCredential } from '../claim/world.ts';
import type { Credentials } from '../schema.ts';
import { statement } from '../statement.ts';
import type { ReadTx } from '../tx.ts';

const columns = [
  'id',
  'name',
  'kind',
  'max_parallel',
  'pool',
  'state',
  'until',
  'last_used_at',
  'owner_id',
  'agent_id',
  'state_at',
  'worked_at',
  'pace',
  'headroom',
] as const satisfies (keyof Credentials)[];
const credentialsOf = statement<object, Pick<Credentials, (typeof columns)[number]>>((db) =>
  db.selectFrom('credentials').select(columns),
);
const settingOf = statement<{ key: string }, { value: string }>((db, s) =>
  db.selectFrom('settings').select('value').where('key', '=', s.key),
);

/** The fullest of the windows that have not been reset since they were told. */
const usedOf = (headroom: string | null, now: number): number | null => {
  if (headroom === null) return null;
  const { windows } = JSON.parse(headroom) as Headroom;
  const told = windows.filter((x) => x.utilization !== null && (x.resets_at === null || x.resets_at > now));
  return told.length === 0 ? null : Math.max(...told.map((x) => x.utilization!));
};

export const claimCredentials = async (tx: ReadTx): Promise<ClaimCredential[]> =>
  (await credentialsOf(tx, {})).rows.map(({ headroom, ...c }) => ({ ...c, used: usedOf(headroom, tx.at.now) }));

/** Pools by tag, `''` for what has none; none unless a person said so (R38). */
export const spillingPools = async (tx: ReadTx): Promise<string[]> => {
  const value = (await settingOf(tx, { key: lendingSettings.spill })).rows[0]?.value;
  return value === undefined ? [] : (JSON.parse(value) as string[]);
};

/** On unless it was switched off. */
export const autoSwitches = async (tx: ReadTx): Promise<boolean> =>
  (await settingOf(tx, { key: lendingSettings.autoSwitch })).rows[0]?.value !== '0';
