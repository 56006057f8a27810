/** The highest steady time of this installation: a restart goes on from it, so that leases and budgets never run backwards (R8). */
import type { ReadVerb, WriteVerb } from '../tx.ts';
import { meta, putMeta } from './meta.ts';

const key = 'clock_high_water';

export const keepClock: WriteVerb<'keep_clock'> = async (tx, { steady }) => {
  if (steady > Number((await meta(tx, key)) ?? -1)) await putMeta(tx, key, String(steady));
  return { ok: true };
};

export const clockHighWater: ReadVerb<'clock_high_water'> = async (tx) => Number((await meta(tx, key)) ?? 0);
