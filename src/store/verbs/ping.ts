/** Does the store answer, and with which schema? */
import { sql } from 'kysely';
import type { ReadVerb } from '../tx.ts';

export const ping: ReadVerb<'ping'> = async (tx) => {
  const { rows } = await sql<{ v: number }>`select max(version) as v from schema_version`.execute(tx.db);
  return { ok: true, schema: Number(rows[0]?.v ?? 0) };
};
