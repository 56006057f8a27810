/** The fleet's limits as they are now: a stored setting wins over the value of the start (R9); pause is a setting too. */
import { fleetSettings, limits } from '../../contract/limits.ts';
import type { FleetLimits } from '../rows.ts';
import { statement } from '../statement.ts';
import type { ReadTx, ReadVerb } from '../tx.ts';

const settingOf = statement<{ key: string }, { value: string }>((db, s) =>
  db.selectFrom('settings').select('value').where('key', '=', s.key),
);

const stored = async (tx: ReadTx, key: string, bounds: { min: number; max: number }): Promise<number | null> => {
  const n = Number((await settingOf(tx, { key })).rows[0]?.value ?? Number.NaN);
  return Number.isInteger(n) && n >= bounds.min && n <= bounds.max ? n : null;
};

export const fleetCapOf = async (tx: ReadTx, atStart: number): Promise<number> =>
  (await stored(tx, fleetSettings.agentCallLimit, limits.agentCallLimit)) ?? atStart;

export const isPaused = async (tx: ReadTx): Promise<boolean> =>
  (await settingOf(tx, { key: fleetSettings.paused })).rows[0]?.value === '1';

export const fleetLimits: ReadVerb<'fleet_limits'> = async (tx, { env_call_limit, env_queue_timeout_s }) => {
  const cap = await stored(tx, fleetSettings.agentCallLimit, limits.agentCallLimit);
  const budget = await stored(tx, fleetSettings.queueTimeoutS, limits.queueTimeoutS);
  const source = (setting: number | null, env: number | null): FleetLimits['agent_call_limit_source'] =>
    setting !== null ? 'setting' : env !== null ? 'environment' : 'default';
  return {
    agent_call_limit: cap ?? env_call_limit ?? limits.agentCallLimit.default,
    agent_call_limit_source: source(cap, env_call_limit),
    queue_timeout_s: budget ?? env_queue_timeout_s ?? limits.queueTimeoutS.default,
    queue_timeout_source: source(budget, env_queue_timeout_s),
    paused: await isPaused(tx),
  };
};
