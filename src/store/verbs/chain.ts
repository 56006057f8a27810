/** The tree an execution belongs to: from its oldest known ancestor down, level by level, and who waits for whom now. */
import type { ReadTx, ReadVerb } from '../tx.ts';
import { executionById, executionFrom, type Row } from './execution-row.ts';

/** The parent may be gone with its retention: then the chain begins below it. */
const top = async (tx: ReadTx, row: Row): Promise<Row> => {
  let at = row;
  while (at.parent_execution_id !== null) {
    const parent = await executionById(tx, at.parent_execution_id);
    if (parent === null) break;
    at = parent;
  }
  return at;
};

export const chain: ReadVerb<'chain'> = async (tx, { execution_id, limit }) => {
  const row = await executionById(tx, execution_id);
  if (row === null) return null;
  const rows: Row[] = [await top(tx, row)];
  let level = rows.map((r) => r.id);
  while (level.length > 0 && rows.length <= limit) {
    const below = await tx.db
      .selectFrom('executions')
      .selectAll()
      .where('parent_execution_id', 'in', level)
      .orderBy('id')
      .limit(limit + 1 - rows.length)
      .execute();
    rows.push(...below);
    level = below.map((r) => r.id);
  }
  const more = rows.length > limit;
  const shown = rows.slice(0, limit);
  const waits = await tx.db
    .selectFrom('calls')
    .select(['execution_id', 'child_id', 'opened_at as since'])
    .where(
      'execution_id',
      'in',
      shown.map((r) => r.id),
    )
    .where('closed_at', 'is', null)
    .execute();
  return { executions: shown.map(executionFrom), waits, more };
};
