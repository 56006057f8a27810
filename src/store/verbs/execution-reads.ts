/**
 * Executions one by one and in lists, newest first, by keyset on the id: page 1,000 costs what page 1 does. Lists over several
 * states are merged from one walk per state, because each state is one range of the index.
 */
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Cause } from '../../contract/causes.ts';
import type { ExecutionStatus, Trigger } from '../../contract/execution.ts';
import type { ListExecutions } from '../history-verbs.ts';
import type { Database } from '../schema.ts';
import type { ReadTx, ReadVerb } from '../tx.ts';
import { executionById, executionFrom, type Row, textsFrom } from './execution-row.ts';

/** Above every id: keyset pages begin here, so that the first one is a range of the index like the others. */
const top = '~';
const withTextsMax = 200;

export const execution: ReadVerb<'execution'> = async (tx, { id }) => {
  const row = await executionById(tx, id);
  if (!row) return null;
  const texts = await tx.db.selectFrom('execution_texts').selectAll().where('execution_id', '=', id).executeTakeFirst();
  return { ...executionFrom(row), ...(texts ? textsFrom(texts) : noTexts) };
};
const noTexts = { message: '', response: null, error: null, verdict: null, wait_details: null };

const page = (tx: ReadTx, f: ListExecutions, status: ExecutionStatus | null): Promise<Row[]> => {
  let q = tx.db.selectFrom('executions').selectAll();
  q = filtered(q, f);
  // One state as a literal: see lit.
  if (status !== null) q = q.where('status', '=', sql.lit(status));
  return q
    .where('id', f.oldest_first ? '>' : '<', f.before ?? (f.oldest_first ? '' : top))
    .orderBy('id', f.oldest_first ? 'asc' : 'desc')
    .limit(f.limit)
    .execute();
};

export const filtered = <O>(
  q: SelectQueryBuilder<Database, 'executions', O>,
  f: ListExecutions,
): SelectQueryBuilder<Database, 'executions', O> => {
  let out = q;
  if (f.agent_id !== undefined) out = out.where('agent_id', '=', f.agent_id);
  if (f.cause !== undefined) out = out.where('cause', '=', f.cause as Cause);
  if (f.triggered_by !== undefined) out = out.where('triggered_by', '=', f.triggered_by as Trigger);
  if (f.parent_execution_id !== undefined) out = out.where('parent_execution_id', '=', f.parent_execution_id);
  if (f.kind !== undefined) out = out.where('kind', '=', f.kind);
  if (f.session_id !== undefined) out = out.where('session_id', '=', f.session_id);
  return out;
};

const list = async (tx: ReadTx, f: ListExecutions): Promise<Row[]> => {
  if (!f.status || f.status.length === 0) return page(tx, f, null);
  const rows: Row[] = [];
  for (const status of new Set(f.status)) rows.push(...(await page(tx, f, status)));
  const sign = f.oldest_first ? -1 : 1;
  return rows.sort((a, b) => (a.id < b.id ? sign : -sign)).slice(0, f.limit);
};

export const executions: ReadVerb<'executions'> = async (tx, filter) => (await list(tx, filter)).map(executionFrom);

export const executionsWithTexts: ReadVerb<'executions_with_texts'> = async (tx, filter) =>
  withTexts(tx, await list(tx, { ...filter, limit: Math.min(filter.limit, withTextsMax) }), filter.text_chars);

/** Rows with their texts, cut in the store when `chars` says so. */
export const withTexts = async (tx: ReadTx, rows: Row[], chars: number | undefined) => {
  if (rows.length === 0) return [];
  const short = (column: 'message' | 'response' | 'error') =>
    (chars === undefined ? sql.ref(column) : sql`substr(${sql.ref(column)}, 1, ${chars})`)
      .$castTo<string | null>()
      .as(column);
  const texts = await tx.db
    .selectFrom('execution_texts')
    .select(['execution_id', 'verdict', 'wait_details'])
    .select([short('message'), short('response'), short('error')])
    .where(
      'execution_id',
      'in',
      rows.map((r) => r.id),
    )
    .execute();
  const byId = new Map(texts.map((t) => [t.execution_id, t]));
  return rows.map((r) => {
    const t = byId.get(r.id);
    return { ...executionFrom(r), ...(t ? textsFrom({ ...t, message: t.message ?? '' }) : noTexts) };
  });
};
