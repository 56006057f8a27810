/**
 * Finds executions by a part of their message, newest first. It looks through a bounded stretch of the history per call and says
 * where the next one begins: a word that nobody ever wrote must not hold the reader for the whole of the table.
 */
import { sql } from 'kysely';
import type { ReadVerb } from '../tx.ts';
import { filtered, withTexts } from './execution-reads.ts';
import { executionById } from './execution-row.ts';

/** Rows looked through per call: some 20 ms. */
const stretch = 5_000;
/** Of a message: what people search for stands at its beginning, and a megabyte would be read for each row. */
const headChars = 2_000;
const top = '~';

const likePattern = (text: string): string => `%${text.toLowerCase().replace(/[\\%_]/g, (c) => `\\${c}`)}%`;

export const searchExecutions: ReadVerb<'search_executions'> = async (tx, { search, text_chars, ...f }) => {
  const before = f.before ?? top;
  const own = f.before === undefined ? await executionById(tx, search.toLowerCase()) : undefined;
  if (own) return { rows: await withTexts(tx, [own], text_chars), next: null };
  const floor = await tx.db
    .selectFrom('executions')
    .select('id')
    .where('id', '<', before)
    .orderBy('id', 'desc')
    .limit(1)
    .offset(stretch - 1)
    .executeTakeFirst();
  let q = filtered(tx.db.selectFrom('executions').selectAll('executions'), f)
    .where('executions.id', '<', before)
    .where('executions.id', '>=', floor?.id ?? '')
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('execution_texts')
          .select('execution_id')
          .whereRef('execution_texts.execution_id', '=', 'executions.id')
          .where(
            sql<boolean>`lower(substr(execution_texts.message, 1, ${headChars})) like ${likePattern(search)} escape '\\'`,
          ),
      ),
    );
  if (f.status && f.status.length > 0) q = q.where('executions.status', 'in', f.status);
  const rows = await q.orderBy('executions.id', 'desc').limit(f.limit).execute();
  const next = rows.length === f.limit ? rows.at(-1)!.id : (floor?.id ?? null);
  return { rows: await withTexts(tx, rows, text_chars), next };
};
