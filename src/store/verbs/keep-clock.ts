/**
 * What a restart goes on from: the highest steady time, so that leases and budgets never run backwards (R8), and the newest id,
 * so that ids do not either when the wall clock was set back meanwhile.
 */
import type { ReadVerb, WriteVerb } from '../tx.ts';
import { meta, putMeta } from './meta.ts';

const key = 'clock_high_water';

export const keepClock: WriteVerb<'keep_clock'> = async (tx, { steady }) => {
  if (steady > Number((await meta(tx, key)) ?? -1)) await putMeta(tx, key, String(steady));
  return { ok: true };
};

export const clockHighWater: ReadVerb<'clock_high_water'> = async (tx) => Number((await meta(tx, key)) ?? 0);

/** Of the rows that everything is ordered by: whatever else was given an id was given it beside one of these. */
export const newestId: ReadVerb<'newest_id'> = async (tx) => {
  const newest = await Promise.all(
    (['executions', 'operator_items', 'audit'] as const).map((table) =>
      tx.db
        .selectFrom(table)
        .select((e) => e.fn.max('id').as('id'))
        .executeTakeFirst(),
    ),
  );
  return newest.reduce<string | null>((max, row) => (row?.id != null && row.id > (max ?? '') ? row.id : max), null);
};
