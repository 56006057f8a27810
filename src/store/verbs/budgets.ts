/**
 * Spending budgets: set and shown, and told of at their edges: one item per budget and period, at 80 %, and worse when it is
 * spent or the next run does not fit any more. It closes when the budget is raised, taken away, or its period ends.
 */
import { createHash } from 'node:crypto';
import { inDollars } from '../../contract/dollars.ts';
import { refuse } from '../../contract/errors.ts';
import { moneyLimits } from '../../contract/money.ts';
import type { NewOperatorItem } from '../../contract/operator.ts';
import { derivedId } from '../../kernel/ids.ts';
import { dayOf, endOf, startOf } from '../../kernel/zone.ts';
import { fitsInto, heldByBudget, type SpendingGate } from '../claim/spending.ts';
import type { World } from '../claim/world.ts';
import { lit, statement } from '../statement.ts';
import type { ReadVerb, Tx, WriteVerb } from '../tx.ts';
import { closeItem } from './close-items.ts';
import { tell } from './events.ts';
import { type Item, liveItems } from './operator-row.ts';
import { raise } from './raise-item.ts';
import { budgetRows, expectedCost, spentBy } from './spending-gates.ts';
import { zoneOf } from './zone.ts';

const nameOf = statement<{ id: string }, { name: string }>((db, s) =>
  db.selectFrom('agents').select('name').where('id', '=', s.id),
);
/** One state each: so each has its covering index. */
const inState = (state: typeof lit.running | typeof lit.waiting) =>
  statement<{ agent_id: string }, { n: number }>((db, s) =>
    db
      .selectFrom('executions')
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .where('status', '=', state)
      .where('agent_id', '=', s.agent_id),
  );
const running = inState(lit.running);
const waiting = inState(lit.waiting);

export const putBudget: WriteVerb<'put_budget'> = async (tx, { agent_id, period, limit_usd, by }) => {
  const subject = agent_id ?? '';
  const name = subject === '' ? null : ((await nameOf(tx, { id: subject })).rows[0]?.name ?? null);
  if (subject !== '' && name === null) return refuse('not_found', 'There is no agent of that name.');
  const before = (await budgetRows(tx)).find((b) => b.subject === subject && b.period === period);
  if ((before?.limit_usd ?? null) === limit_usd) return { ok: true };
  await tx.db.deleteFrom('budgets').where('subject', '=', subject).where('period', '=', period).execute();
  if (limit_usd !== null)
    await tx.db
      .insertInto('budgets')
      .values({ subject, period, limit_usd, updated_at: tx.at.now, updated_by: by })
      .execute();
  await tell(tx, {
    type: 'budget.changed',
    ...(name !== null && { agent_name: name }),
    data: { period, limit_usd, by },
  });
  tx.stirred.claimable = true;
  const spent = limit_usd === null ? 0 : await spentBy(tx, subject, startOf(await zoneOf(tx), period, tx.at.now));
  const eased = limit_usd === null || spent < moneyLimits.warnAt * limit_usd;
  await closeBudgetItems(tx, period, { name }, (i) => eased || i.priority === 'high', 'its budget was changed');
  await watchBudgets(tx, subject);
  return { ok: true };
};

export const budgets: ReadVerb<'budgets'> = async (tx) => {
  const zone = await zoneOf(tx);
  const { now } = tx.at;
  const told = [];
  for (const b of await budgetRows(tx)) {
    const start = startOf(zone, b.period, now);
    const agents =
      b.subject === ''
        ? await tx.db.selectFrom('agents').select('id').where('deleted_at', 'is', null).execute()
        : [{ id: b.subject }];
    let reserved_usd = 0;
    for (const { id } of agents) {
      const n =
        Number((await running(tx, { agent_id: id })).rows[0]?.n ?? 0) +
        Number((await waiting(tx, { agent_id: id })).rows[0]?.n ?? 0);
      if (n > 0) reserved_usd += n * (await expectedCost(tx, id));
    }
    told.push({
      agent_name: b.subject === '' ? null : ((await nameOf(tx, { id: b.subject })).rows[0]?.name ?? b.subject),
      period: b.period,
      limit_usd: b.limit_usd,
      spent_usd: await spentBy(tx, b.subject, start),
      reserved_usd,
      expected_usd: b.subject === '' ? null : await expectedCost(tx, b.subject),
      period_start: start,
      period_end: endOf(zone, b.period, now),
    });
  }
  return told;
};

const keyOf = (zone: string, period: SpendingGate['period'], now: number): string =>
  `budget:${period}:${dayOf(zone, startOf(zone, period, now))}`;

/** Tells of what got worse, and of nothing twice. */
const tellOf = async (
  tx: Tx,
  g: Pick<SpendingGate, 'subject' | 'period' | 'limit_usd' | 'spent_usd'>,
  state: { spent: boolean; why: string },
): Promise<void> => {
  const zone = await zoneOf(tx);
  const key = keyOf(zone, g.period, tx.at.now);
  const name = g.subject === '' ? null : ((await nameOf(tx, { id: g.subject })).rows[0]?.name ?? null);
  if (g.subject !== '' && name === null) return;
  const priority: NewOperatorItem['priority'] = state.spent ? 'high' : 'normal';
  const live = (await liveItems(tx, name ?? '')).find((i) => i.dedup_key === key);
  if (live && (live.priority === 'high' || priority === 'normal')) return;
  const of = `${name ?? 'The fleet'}: its budget of ${inDollars(g.limit_usd)} a ${g.period}`;
  await raise(
    tx,
    {
      id: derivedId(tx.at.now, createHash('sha256').update(`${key}:${g.subject}:${g.limit_usd}`).digest('hex')),
      kind: 'alert',
      dedup_key: key,
      priority,
      title: state.spent
        ? `${of} is used up: new work waits`
        : `${of} is used up to ${Math.round(100 * moneyLimits.warnAt)} %`,
      evidence: [
        `${inDollars(g.spent_usd)} of ${inDollars(g.limit_usd)} spent. ${state.why}`.trimEnd(),
        `Raise it and what waits goes on: drover budget set ${name === null ? '' : `--agent ${name} `}--per ${g.period} ${(2 * g.limit_usd).toFixed(2)}`,
      ],
      fleet: name === null,
    },
    { agent_name: name, execution_id: null },
  );
};

/** After a cost was recorded: of the agent and of the fleet. */
export const watchBudgets = async (tx: Tx, agent_id: string): Promise<void> => {
  const all = await budgetRows(tx);
  if (all.length === 0) return;
  const zone = await zoneOf(tx);
  for (const b of all) {
    if (b.subject !== '' && b.subject !== agent_id) continue;
    const spent_usd = await spentBy(tx, b.subject, startOf(zone, b.period, tx.at.now));
    if (spent_usd < moneyLimits.warnAt * b.limit_usd) continue;
    await tellOf(tx, { ...b, spent_usd }, { spent: spent_usd >= b.limit_usd, why: '' });
  }
};

/** A lane whose next run does not fit: that it waits must not be news to find by looking. */
export const tellHeld = async (tx: Tx, w: World, agents: Iterable<string>): Promise<void> => {
  if (w.spending.gates.size === 0 && w.spending.fleet.length === 0) return;
  for (const agent_id of new Set(agents)) {
    const gate = heldByBudget(w, agent_id);
    // While runs are alive their reservation may be given back in part.
    if (gate === null || fitsInto({ ...gate, reserved_usd: 0 }, w.spending.expected.get(agent_id) ?? 0)) continue;
    const next = w.spending.expected.get(agent_id) ?? 0;
    await tellOf(tx, gate, { spent: true, why: `The next run may cost ${inDollars(next)} (p90 of its last runs).` });
  }
};

/** Items of periods that are over. */
export const passBudgets = async (tx: Tx): Promise<void> => {
  if ((await budgetRows(tx)).length === 0) return;
  const zone = await zoneOf(tx);
  for (const period of ['day', 'month'] as const)
    await closeBudgetItems(
      tx,
      period,
      null,
      (i) => i.dedup_key !== keyOf(zone, period, tx.at.now),
      'its period is over',
    );
};

/** `of`: null = of all; a name of null = the fleet's. */
const closeBudgetItems = async (
  tx: Tx,
  period: SpendingGate['period'],
  of: { name: string | null } | null,
  over: (item: Item) => boolean,
  why: string,
): Promise<void> => {
  const live = await tx.db
    .selectFrom('operator_items')
    .selectAll()
    .where('status', 'in', [lit.open, lit.acknowledged])
    .where('dedup_key', 'like', `budget:${period}:%`)
    .execute();
  for (const item of live)
    if ((of === null || item.agent_name === of.name) && over(item)) await closeItem(tx, item, why);
};
