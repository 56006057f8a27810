/** Counts for page, metrics and doctor, all from rows on covering indexes: the truth about the limits, not a second record. */
import { sql } from 'kysely';
import type { WaitReason } from '../../contract/limits.ts';
import type { Lane } from '../schema.ts';
import { lit, statement } from '../statement.ts';
import type { ReadVerb } from '../tx.ts';
import { loadQueue } from './claim-queue.ts';
import { loadWorld } from './claim-world.ts';
import { reasonOf } from './wait-spans.ts';

const inLanes = statement<object, { lane: Lane; agent_id: string; n: number }>((db) =>
  db
    .selectFrom('executions')
    .select(['agent_id', sql<Lane>`lane`.as('lane'), sql<number>`count(*)`.as('n')])
    .where('lane', 'in', [lit.interactive, lit.batch, lit.nested])
    .groupBy(['lane', 'agent_id']),
);
const behind = statement<object, { agent_id: string; n: number; batched: number }>((db) =>
  db
    .selectFrom('executions')
    .select(['agent_id', sql<number>`count(*)`.as('n'), sql<number>`count(fan_out_id)`.as('batched')])
    .where('behind', '=', lit.one)
    .where('completed_at', 'is', null)
    // Every agent: makes it a range of the index.
    .where('agent_id', '>', sql.lit(''))
    .groupBy('agent_id'),
);
/** Inner and outer apart: grouped at once, SQLite walks all executions by agent to save a sort. */
const parked = statement<object, { agent_id: string; n: number }>((db) =>
  db
    .selectFrom(
      db
        .selectFrom('executions')
        .select('agent_id')
        .where('ripe_at', 'is not', null)
        .orderBy('ripe_at')
        .limit(sql.lit(1_000_000))
        .as('rows'),
    )
    .select(['rows.agent_id', sql<number>`count(*)`.as('n')])
    .groupBy('rows.agent_id'),
);
const waitingByAgent = statement<object, { agent_id: string; n: number }>((db) =>
  db
    .selectFrom('executions')
    .select(['agent_id', sql<number>`count(*)`.as('n')])
    .where('status', '=', lit.waiting)
    .groupBy('agent_id'),
);
const oldest = statement<object, { queued_at: number }>((db) =>
  db
    .selectFrom('executions')
    .select('queued_at')
    .where('status', '=', lit.queued)
    .where('not_before', 'is', null)
    .orderBy('id')
    .limit(lit.one),
);

export const occupancy: ReadVerb<'occupancy'> = async (tx, { limits }) => {
  const { world } = await loadWorld(tx, limits);
  const { queue } = await loadQueue(tx);
  const lanes = (await inLanes(tx, {})).rows;
  const inSessions = (await behind(tx, {})).rows;
  const untilATime = (await parked(tx, {})).rows;
  const waiting = new Map((await waitingByAgent(tx, {})).rows.map((r) => [r.agent_id, Number(r.n)]));

  const queued = new Map<string, number>();
  for (const r of [...lanes, ...inSessions, ...untilATime])
    queued.set(r.agent_id, (queued.get(r.agent_id) ?? 0) + Number(r.n));
  const reasons: Partial<Record<WaitReason, number>> = {};
  const because = (reason: WaitReason, n: number) => {
    if (n > 0) reasons[reason] = (reasons[reason] ?? 0) + n;
  };
  // What binds the head of a lane holds up the whole lane.
  const bound = new Map(
    [...queue.children, ...queue.roots].map((h) => [`${h.lane} ${h.agent_id}`, reasonOf(world, h)]),
  );
  for (const r of lanes) because(bound.get(`${r.lane} ${r.agent_id}`) ?? 'turn', Number(r.n));
  const batched = sum(inSessions.map((r) => Number(r.batched)));
  because('session_busy', total(inSessions) - batched);
  because('fan_out_cap', batched);
  because('not_before', total(untilATime));

  const ids = new Set([...world.running.agent.keys(), ...waiting.keys(), ...queued.keys()]);
  return {
    fleet: {
      running: world.running.fleet,
      waiting: sum(waiting.values()),
      queued: sum(queued.values()),
      oldest_queued_at: (await oldest(tx, {})).rows[0]?.queued_at ?? null,
    },
    agents: [...ids].sort().map((agent_id) => ({
      agent_id,
      running: world.running.agent.get(agent_id) ?? 0,
      waiting: waiting.get(agent_id) ?? 0,
      queued: queued.get(agent_id) ?? 0,
    })),
    credentials: [...world.running.credential].map(([credential_id, running]) => ({ credential_id, running })),
    runners: [...world.live.runner].map(([runner_id, live]) => ({ runner_id, live })),
    waiting_by_reason: reasons,
  };
};

const sum = (all: Iterable<number>): number => [...all].reduce((a, b) => a + b, 0);
const total = (rows: readonly { n: number }[]): number => sum(rows.map((r) => Number(r.n)));
