/**
 * Why each queued row waits and where it stands (R11), from the same limits that admit a claim. A reason is the one that binds now;
 * a position is the place in the row's lane, lanes_ahead the lanes that go before it.
 */
import { sql } from 'kysely';
import type { WaitInfo } from '../../contract/execution.ts';
import type { WaitReason } from '../../contract/limits.ts';
import { earliestReset, loginsTold } from '../claim/lend.ts';
import { byTurn, type Head } from '../claim/order.ts';
import { heldByBudget } from '../claim/spending.ts';
import { weatherClears } from '../claim/weather.ts';
import type { World } from '../claim/world.ts';
import type { Lane } from '../schema.ts';
import { lit, statement } from '../statement.ts';
import type { ReadTx, ReadVerb } from '../tx.ts';
import { loadQueue } from './claim-queue.ts';
import { loadWorld } from './claim-world.ts';
import { executionById, type Row } from './execution-row.ts';
import { reasonNow } from './expire-budgets.ts';

const between = statement<{ lane: Lane; agent_id: string; from: string; to: string }, { n: number }>((db, s) =>
  db
    .selectFrom('executions')
    .select(db.fn.countAll<number>().as('n'))
    .where('lane', '=', s.lane)
    .where('agent_id', '=', s.agent_id)
    .where('id', '>=', s.from)
    .where('id', '<', s.to),
);
const before = statement<{ agent_id: string; session_id: string; id: string }, { n: number }>((db, s) =>
  db
    .selectFrom('executions')
    .select(db.fn.countAll<number>().as('n'))
    .where('agent_id', '=', s.agent_id)
    .where('session_id', '=', s.session_id)
    .where('behind', '=', lit.one)
    .where('completed_at', 'is', null)
    .where('id', '<', s.id),
);
const beforeInBatch = statement<{ fan_out_id: string; id: string }, { n: number }>((db, s) =>
  db
    .selectFrom('executions')
    .select(db.fn.countAll<number>().as('n'))
    .where('fan_out_id', '=', s.fan_out_id)
    .where('id', '<', s.id)
    .where('behind', '=', lit.one)
    .where('completed_at', 'is', null),
);

export const waits: ReadVerb<'waits'> = async (tx, { execution_ids, limits }) => {
  const rows: Row[] = [];
  for (const id of new Set(execution_ids)) {
    const row = await executionById(tx, id);
    if (row?.status === 'queued') rows.push(row);
  }
  if (rows.length === 0) return {};
  const { world } = await loadWorld(tx, limits);
  const { queue } = await loadQueue(tx);
  const turns = byTurn(world, queue);
  const places = await placesOf(tx, rows);
  const told: Record<string, WaitInfo> = {};
  for (const row of rows) {
    const reason = reasonNow(world, row, tx.at.steady);
    told[row.id] = {
      reason,
      position: places.get(row.id) ?? 1,
      lanes_ahead: row.lane === null ? 0 : lanesAhead(row, row.lane, queue.children, turns),
      since: row.since_at,
      until: untilOf(world, row, reason),
      about: aboutOf(world, row, reason),
    };
  }
  return told;
};

const untilOf = (w: World, row: Row, reason: WaitReason): number | null => {
  if (reason === 'not_before') return row.not_before;
  if (reason === 'credentials_exhausted') return resetOf(w, row);
  if (reason === 'budget_spent') {
    const held = heldByBudget(w, row.agent_id);
    return held === null ? null : w.now + held.ends_at - w.steady;
  }
  const clears = reason === 'provider_paused' ? weatherClears(w, row.agent_id) : null;
  return clears === null ? null : w.now + clears - w.steady;
};

const aboutOf = (w: World, row: Row, reason: WaitReason): string | null => {
  if (reason === 'provider_paused') return w.gates.get(row.agent_id)?.provider ?? null;
  const agent = w.agents.get(row.agent_id);
  return reason === 'credentials_exhausted' && agent ? loginsTold(w, agent) : null;
};

const resetOf = (w: World, row: Row): number | null => {
  const agent = w.agents.get(row.agent_id);
  return agent ? earliestReset(w, agent) : null;
};

const lanesAhead = (row: Row, lane: Lane, children: readonly Head[], turns: readonly Head[]): number => {
  const heads = lane === 'nested' ? children : [...children, ...turns];
  const at = heads.findIndex((h) => h.lane === lane && h.agent_id === row.agent_id);
  return Math.max(0, at);
};

/** Rows of one lane are counted from one to the next, so that a page of a deep lane reads the lane once. */
const placesOf = async (tx: ReadTx, rows: readonly Row[]): Promise<Map<string, number>> => {
  const places = new Map<string, number>();
  const at = new Map<string, { id: string; place: number }>();
  for (const row of [...rows].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    if (row.behind === 1 && row.fan_out_id !== null) {
      const n = (await beforeInBatch(tx, { fan_out_id: row.fan_out_id, id: row.id })).rows[0]!.n;
      places.set(row.id, 1 + Number(n));
    } else if (row.behind === 1 && row.session_id !== null) {
      const n = (await before(tx, { agent_id: row.agent_id, session_id: row.session_id, id: row.id })).rows[0]!.n;
      // The holder of the session stands first.
      places.set(row.id, 2 + Number(n));
    } else if (row.lane !== null) {
      const key = `${row.lane} ${row.agent_id}`;
      const last = at.get(key) ?? { id: '', place: 1 };
      const n = (await between(tx, { lane: row.lane, agent_id: row.agent_id, from: last.id, to: row.id })).rows[0]!.n;
      const place = last.place + Number(n);
      places.set(row.id, place);
      at.set(key, { id: row.id, place });
    }
  }
  return places;
};

/** Read every second: only the columns a reason needs. */
const long = statement<
  { older_than: number; most: number },
  Pick<
    Row,
    | 'id'
    | 'agent_id'
    | 'agent_name'
    | 'depth'
    | 'behind'
    | 'awaited'
    | 'ripe_at'
    | 'fan_out_id'
    | 'eligible_at'
    | 'credential_id'
  >
>((db, s) =>
  db
    .selectFrom('executions')
    .select([
      'id',
      'agent_id',
      'agent_name',
      'depth',
      'behind',
      'awaited',
      'ripe_at',
      'fan_out_id',
      'eligible_at',
      'credential_id',
    ])
    .where('status', '=', lit.queued)
    .where('not_before', 'is', null)
    .where('eligible_at', '<=', s.older_than)
    .where('id', '<', sql.lit('~'))
    .orderBy('id')
    .limit(s.most),
);

/** `older_than` is steady time: rows that became eligible at or before it. */
export const longWaits: ReadVerb<'long_waits'> = async (tx, { older_than, limits, limit }) => {
  const { rows } = await long(tx, { older_than, most: limit });
  if (rows.length === 0) return [];
  const { world } = await loadWorld(tx, limits);
  return rows.map((row) => ({
    execution_id: row.id,
    agent_name: row.agent_name,
    waited_ms: Math.max(tx.at.steady, older_than) - row.eligible_at,
    reason: reasonNow(world, row, tx.at.steady),
  }));
};
