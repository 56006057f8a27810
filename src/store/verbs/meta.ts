/** Single values that the store keeps for itself, by key: the claim's memory, the last limits, the highest steady time. */
import { statement } from '../statement.ts';
import type { ReadTx, Tx } from '../tx.ts';

const metaOf = statement<{ key: string }, { value: string }>((db, s) =>
  db.selectFrom('meta').select('value').where('key', '=', s.key),
);
const metaPut = statement<{ key: string; value: string }, unknown>((db, s) =>
  db
    .insertInto('meta')
    .values({ key: s.key, value: s.value })
    .onConflict((c) => c.column('key').doUpdateSet((eb) => ({ value: eb.ref('excluded.value') }))),
);

export const meta = async (tx: ReadTx, key: string): Promise<string | null> =>
  (await metaOf(tx, { key })).rows[0]?.value ?? null;

export const putMeta = async (tx: Tx, key: string, value: string): Promise<void> => {
  await metaPut(tx, { key, value });
};
