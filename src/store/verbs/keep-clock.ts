/** The highest steady time of this installation: a restart goes on from it, so that leases and budgets never run backwards (R8). */
import type { ReadVerb, WriteVerb } from '../tx.ts';

const key = 'clock_high_water';

export const keepClock: WriteVerb<'keep_clock'> = async (tx, { steady }) => {
  const row = await tx.db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst();
  if (row === undefined)
    await tx.db
      .insertInto('meta')
      .values({ key, value: String(steady) })
      .execute();
  else if (Number(row.value) < steady)
    await tx.db
      .updateTable('meta')
      .set({ value: String(steady) })
      .where('key', '=', key)
      .execute();
  return { ok: true };
};

export const clockHighWater: ReadVerb<'clock_high_water'> = async (tx) => {
  const row = await tx.db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst();
  return row === undefined ? 0 : Number(row.value);
};
