/** Loads what budgets look at, counted from rows in the transaction that acts on it. Without a budget it is one look at an empty table. */
import { moneyLimits } from '../../contract/money.ts';
import { endOf, startOf } from '../../kernel/zone.ts';
import { p90, type SpendingGate } from '../claim/spending.ts';
import type { World } from '../claim/world.ts';
import type { Database } from '../schema.ts';
import { statement } from '../statement.ts';
import type { ReadTx } from '../tx.ts';
import { zoneOf } from './zone.ts';

type Budget = Database['budgets'];
const all = statement<object, Budget>((db) =>
  db.selectFrom('budgets').selectAll().orderBy('subject').orderBy('period'),
);
const spentOf = statement<{ agent_id: string; since: number }, { usd: number | null }>((db, s) =>
  db
    .selectFrom('cost_rows')
    .select((eb) => eb.fn.sum<number | null>('cost_usd').as('usd'))
    .where('agent_id', '=', s.agent_id)
    .where('at', '>=', s.since),
);
const spentByAll = statement<{ since: number }, { usd: number | null }>((db, s) =>
  db
    .selectFrom('cost_rows')
    .select((eb) => eb.fn.sum<number | null>('cost_usd').as('usd'))
    .where('at', '>=', s.since),
);
const lastOf = statement<{ agent_id: string; most: number }, { cost_usd: number }>((db, s) =>
  db
    .selectFrom('cost_rows')
    .select('cost_usd')
    .where('agent_id', '=', s.agent_id)
    .where('cost_usd', 'is not', null)
    .orderBy('at', 'desc')
    .limit(s.most)
    .$castTo<{ cost_usd: number }>(),
);

export const budgetRows = async (tx: ReadTx): Promise<Budget[]> => (await all(tx, {})).rows;

export const spentBy = async (tx: ReadTx, subject: string, since: number): Promise<number> => {
  const { rows } = subject === '' ? await spentByAll(tx, { since }) : await spentOf(tx, { agent_id: subject, since });
  return Number(rows[0]?.usd ?? 0);
};

export const expectedCost = async (tx: ReadTx, agent_id: string): Promise<number> =>
  p90((await lastOf(tx, { agent_id, most: moneyLimits.expectedFrom })).rows.map((r) => Number(r.cost_usd)));

const nothing: World['spending'] = { fleet: [], gates: new Map(), expected: new Map() };

/** `live`: attempts with a process, by agent. */
export const loadSpending = async (
  tx: ReadTx,
  agents: Iterable<string>,
  live: ReadonlyMap<string, number>,
): Promise<World['spending']> => {
  const budgets = await budgetRows(tx);
  if (budgets.length === 0) return nothing;
  const zone = await zoneOf(tx);
  const { now, steady } = tx.at;
  const ofFleet = budgets.some((b) => b.subject === '');
  const expected = new Map<string, number>();
  for (const id of ofFleet ? agents : new Set(budgets.map((b) => b.subject)))
    expected.set(id, await expectedCost(tx, id));
  const reservedOf = (id: string) => (live.get(id) ?? 0) * (expected.get(id) ?? 0);
  const gateOf = async (b: Budget): Promise<SpendingGate> => ({
    subject: b.subject,
    period: b.period,
    limit_usd: b.limit_usd,
    spent_usd: await spentBy(tx, b.subject, startOf(zone, b.period, now)),
    reserved_usd:
      b.subject === '' ? [...live.keys()].reduce((sum, id) => sum + reservedOf(id), 0) : reservedOf(b.subject),
    ends_at: steady + endOf(zone, b.period, now) - now,
  });
  const fleet: SpendingGate[] = [];
  const gates = new Map<string, SpendingGate[]>();
  for (const b of budgets) {
    const gate = await gateOf(b);
    if (b.subject === '') fleet.push(gate);
    else gates.set(b.subject, [...(gates.get(b.subject) ?? []), gate]);
  }
  // What is over the fleet is over each.
  for (const [id, own] of gates) gates.set(id, [...own, ...fleet]);
  return { fleet, gates, expected };
};
