/**
 * Loads who may be next: the pending resumes and the heads of the lanes. Heads are found by hopping from agent to agent on the
 * index (one probe each), so that a claim reads the same number of rows at 100 and at 100,000 queued (drill 8).
 */
import { sql } from 'kysely';
import { agedClass, type Head, type Queue, servedKey } from '../claim/order.ts';
import type { Pending } from '../claim/resumes.ts';
import type { Lane } from '../schema.ts';
import { lit, statement } from '../statement.ts';
import type { ReadTx } from '../tx.ts';
import { type ClaimState, claimState } from './claim-state.ts';

interface HeadRow {
  id: string;
  agent_id: string;
  depth: number;
  eligible_at: number;
  /** Of a row that was queued again: what it goes on with. */
  credential_id: string | null;
}

const pendingOf = statement<object, Pending>((db) =>
  db
    .selectFrom('executions')
    .select(['id', 'agent_id', 'agent_name', 'credential_id', 'class'])
    .where('status', '=', lit.waiting)
    .where('cancel_requested_at', 'is', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('calls')
            .select('calls.call_id')
            .whereRef('calls.execution_id', '=', 'executions.id')
            .whereRef('calls.token', '=', 'executions.token')
            .where('calls.closed_at', 'is', null),
        ),
      ),
    )
    .orderBy('id'),
);

/** Oldest first. */
export const pendingResumes = async (tx: ReadTx): Promise<Pending[]> => (await pendingOf(tx, {})).rows;

const compile = (text: ReturnType<typeof sql<HeadRow>>) =>
  statement<object, HeadRow>((db) => ({ compile: () => text.compile(db) }));

const rootHeads = (lane: 'interactive' | 'batch') => {
  const l = sql.lit(lane);
  return compile(sql<HeadRow>`
    with recursive hop (agent_id) as (
      select min(agent_id) from executions where lane = ${l}
      union all
      select (select min(e.agent_id) from executions e where e.lane = ${l} and e.agent_id > hop.agent_id)
      from hop where hop.agent_id is not null)
    select x.id, x.agent_id, x.depth, x.eligible_at, x.credential_id
    from hop join executions x
      on x.id = (select min(e.id) from executions e where e.lane = ${l} and e.agent_id = hop.agent_id)
    where hop.agent_id is not null`);
};
const interactiveHeads = rootHeads('interactive');
const batchHeads = rootHeads('batch');

/** One per depth and agent: what room asks for differs by depth. */
const nestedHeads = compile(sql<HeadRow>`
  with recursive hop (depth, agent_id) as (
    select (select depth from executions where lane = 'nested' order by depth, agent_id limit 1),
      (select agent_id from executions where lane = 'nested' order by depth, agent_id limit 1)
    union all
    select
      (select e.depth from executions e where e.lane = 'nested' and (e.depth, e.agent_id) > (hop.depth, hop.agent_id)
        order by e.depth, e.agent_id limit 1),
      (select e.agent_id from executions e where e.lane = 'nested' and (e.depth, e.agent_id) > (hop.depth, hop.agent_id)
        order by e.depth, e.agent_id limit 1)
    from hop where hop.agent_id is not null)
  select x.id, x.agent_id, x.depth, x.eligible_at, x.credential_id
  from hop join executions x
    on x.id = (select min(e.id) from executions e where e.lane = 'nested' and e.depth = hop.depth and e.agent_id = hop.agent_id)
  where hop.agent_id is not null`);

const nextInLane = statement<{ lane: Lane; agent_id: string; id: string }, HeadRow>((db, s) =>
  db
    .selectFrom('executions')
    .select(['id', 'agent_id', 'depth', 'eligible_at', 'credential_id'])
    .where('lane', '=', s.lane)
    .where('agent_id', '=', s.agent_id)
    .where('id', '>', s.id)
    .orderBy('id')
    .limit(lit.one),
);
const nextNested = statement<{ agent_id: string; depth: number; id: string }, HeadRow>((db, s) =>
  db
    .selectFrom('executions')
    .select(['id', 'agent_id', 'depth', 'eligible_at', 'credential_id'])
    .where('lane', '=', sql.lit('nested' as const))
    .where('depth', '=', s.depth)
    .where('agent_id', '=', s.agent_id)
    .where('id', '>', s.id)
    .orderBy('id')
    .limit(lit.one),
);

const headFrom = (tx: ReadTx, r: HeadRow, lane: Head['lane']): Head => ({
  id: r.id,
  agent_id: r.agent_id,
  depth: r.depth,
  nested: lane === 'nested',
  wanted: r.credential_id,
  lane,
  as: lane === 'nested' ? 'interactive' : agedClass(lane, tx.at.steady - r.eligible_at),
});

export interface LoadedQueue {
  queue: Queue & { pending: Pending[]; children: Head[]; roots: Head[]; served: Map<string, number> };
  state: ClaimState;
  scanned: number;
}

const oldestFirst = (a: Head, b: Head) => (a.id < b.id ? -1 : 1);

export const loadQueue = async (tx: ReadTx): Promise<LoadedQueue> => {
  const pending = await pendingResumes(tx);
  const children = (await nestedHeads(tx, {})).rows.map((r) => headFrom(tx, r, 'nested')).sort(oldestFirst);
  const roots = [
    ...(await interactiveHeads(tx, {})).rows.map((r) => headFrom(tx, r, 'interactive')),
    ...(await batchHeads(tx, {})).rows.map((r) => headFrom(tx, r, 'batch')),
  ];
  const { state, lanes } = await claimState(tx);
  const served = new Map(lanes.map((l) => [servedKey(l.agent_id, l.class), l.served]));
  return {
    queue: { pending, children, roots, served, nestedInRow: state.nested },
    state,
    scanned: pending.length + children.length + roots.length,
  };
};

/** The row behind a head that was taken. */
export const afterHead = async (tx: ReadTx, head: Head): Promise<Head | null> => {
  const at = { agent_id: head.agent_id, id: head.id };
  const found =
    head.lane === 'nested'
      ? await nextNested(tx, { ...at, depth: head.depth })
      : await nextInLane(tx, { ...at, lane: head.lane });
  return found.rows[0] ? headFrom(tx, found.rows[0], head.lane) : null;
};
