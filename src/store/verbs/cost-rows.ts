/**
 * What each attempt cost, kept for itself: executions go after 30 days, and months are compared with months. Late facts are
 * billed, too. An attempt of which neither a cost nor a token is known has no row.
 */
import { sql } from 'kysely';
import type { CostSlice } from '../../contract/money.ts';
import { insertInto, statement } from '../statement.ts';
import type { SettleArgs } from '../store.ts';
import type { ReadVerb, Tx } from '../tx.ts';
import { watchBudgets } from './budgets.ts';
import type { Row } from './execution-row.ts';

const tagsOf = statement<{ id: string }, { tags: string }>((db, s) =>
  db.selectFrom('agents').select('tags').where('id', '=', s.id),
);
const credentialOf = statement<{ id: string }, { name: string }>((db, s) =>
  db.selectFrom('credentials').select('name').where('id', '=', s.id),
);
const insert = insertInto('cost_rows', [
  'attempt_id',
  'at',
  'agent_id',
  'agent_name',
  'execution_id',
  'credential_name',
  'model',
  'tags',
  'cost_usd',
  'cost_kind',
  'estimated',
  'input_tokens',
  'output_tokens',
]);

export const recordCost = async (
  tx: Tx,
  row: Row,
  attempt: { id: string; credential_id: string | null },
  args: SettleArgs,
): Promise<void> => {
  const { stream } = args.facts;
  const u = stream.usage;
  if (args.cost_usd === null && u === null) return;
  const credential = attempt.credential_id === null ? null : await credentialOf(tx, { id: attempt.credential_id });
  await insert(tx, {
    attempt_id: attempt.id,
    at: tx.at.now,
    agent_id: row.agent_id,
    agent_name: row.agent_name,
    execution_id: row.id,
    credential_name: credential?.rows[0]?.name ?? null,
    model: stream.model,
    tags: (await tagsOf(tx, { id: row.agent_id })).rows[0]?.tags ?? '[]',
    cost_usd: args.cost_usd,
    cost_kind: args.cost_kind ?? 'unknown',
    estimated: args.cost_estimated ? 1 : 0,
    input_tokens: u === null ? 0 : inputTokens(u),
    output_tokens: u?.output_tokens ?? 0,
  });
  if (args.cost_usd !== null) await watchBudgets(tx, row.agent_id);
};

/** What went in, cached or not: the bare count without the cache would be a few tokens for a long prompt. */
export const inputTokens = (u: NonNullable<SettleArgs['facts']['stream']['usage']>): number =>
  u.input_tokens + u.cache_read_tokens + u.cache_write_tokens;

const sliceMs = 900_000;

export const costs: ReadVerb<'costs'> = async (tx, { from, to }): Promise<CostSlice[]> => {
  const slice = sql<number>`at - at % ${sql.lit(sliceMs)}`;
  const rows = await tx.db
    .selectFrom('cost_rows')
    .select(['agent_name', 'credential_name', 'model', 'tags', 'cost_kind', 'estimated'])
    .select([
      slice.as('from'),
      sql<number>`count(*)`.as('runs'),
      sql<number>`count(cost_usd)`.as('priced'),
      sql<number | null>`sum(cost_usd)`.as('cost_usd'),
      sql<number>`sum(input_tokens)`.as('input_tokens'),
      sql<number>`sum(output_tokens)`.as('output_tokens'),
    ])
    .where('at', '>=', from)
    .where('at', '<', to)
    .groupBy(['agent_name', 'credential_name', 'model', 'tags', 'cost_kind', 'estimated', slice])
    .execute();
  return rows.map(({ priced, tags, estimated, ...r }) => ({
    ...r,
    from: Number(r.from),
    tags: JSON.parse(tags) as string[],
    estimated: estimated === 1,
    runs: Number(r.runs),
    unpriced: Number(r.runs) - Number(priced),
    cost_usd: Number(r.cost_usd ?? 0),
    input_tokens: Number(r.input_tokens),
    output_tokens: Number(r.output_tokens),
  }));
};
