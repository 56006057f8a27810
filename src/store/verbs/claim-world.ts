/**
 * Loads what the claim's policy looks at. Use of every limit is counted from rows with status running (and waiting, for room),
 * in the transaction that acts on it, on two covering partial indexes: a change of a cap takes effect at once (R9, F11).
 */
import { sql } from 'kysely';
import { limits } from '../../contract/limits.ts';
import type { RunnerRoom } from '../../contract/runner-protocol.ts';
import { addLive, addRunning, type ClaimAgent, type ClaimRunner, type Held, type World } from '../claim/world.ts';
import { lit, statement } from '../statement.ts';
import type { ClaimLimits } from '../store.ts';
import type { ReadTx } from '../tx.ts';
import { claimCredentials, spillingPools } from './credential-world.ts';
import { fleetCapOf, isPaused } from './fleet-settings.ts';
import { loadSpending } from './spending-gates.ts';
import { loadGates } from './weather-gates.ts';

const heldIn = (state: typeof lit.running | typeof lit.waiting) =>
  statement<object, Held>((db) =>
    db
      .selectFrom('executions')
      .select(['agent_id', 'credential_id', 'runner_id', 'class'])
      .select(sql<number>`count(*)`.as('n'))
      .where('status', '=', state)
      .groupBy(['agent_id', 'credential_id', 'runner_id', 'class']),
  );
const running = heldIn(lit.running);
const waiting = heldIn(lit.waiting);

const agentsOf = statement<
  object,
  Pick<ClaimAgent, 'id' | 'adapter' | 'memory_bytes' | 'pool' | 'credential_id' | 'owner_id'> & {
    max_parallel_tasks: number | null;
    desired_state: string;
  }
>((db) =>
  db
    .selectFrom('agents')
    .select([
      'id',
      'adapter',
      'memory_bytes',
      'pool',
      'credential_id',
      'owner_id',
      'max_parallel_tasks',
      'desired_state',
    ])
    .where('deleted_at', 'is', null),
);
const runnersOf = statement<{ since: number }, { id: string; room: string | null }>((db, s) =>
  db.selectFrom('runners').select(['id', 'room']).where('seen_steady', '>=', s.since),
);

export const runnerFrom = (id: string, room: RunnerRoom): ClaimRunner => ({
  id,
  slots: room.slots,
  memory_total: room.memory_total,
  memory_available: room.memory_available,
  disk_available: room.disk_available,
});

interface Loaded {
  world: World;
  /** Rows of executions that were read. */
  scanned: number;
}

export const loadWorld = async (tx: ReadTx, l: ClaimLimits): Promise<Loaded> => {
  const agents = new Map<string, ClaimAgent>();
  for (const a of (await agentsOf(tx, {})).rows)
    agents.set(a.id, {
      id: a.id,
      adapter: a.adapter,
      cap: a.max_parallel_tasks ?? limits.maxParallelTasks.default,
      stopped: a.desired_state === 'stopped',
      memory_bytes: a.memory_bytes,
      pool: a.pool,
      credential_id: a.credential_id,
      owner_id: a.owner_id,
    });
  const runners: ClaimRunner[] = [];
  for (const r of (await runnersOf(tx, { since: tx.at.steady - limits.leaseMs })).rows)
    if (r.room !== null) runners.push(runnerFrom(r.id, JSON.parse(r.room) as RunnerRoom));
  const world: World = {
    now: tx.at.now,
    steady: tx.at.steady,
    fleetCap: await fleetCapOf(tx, l.agent_call_limit),
    maxDepth: l.max_depth,
    memoryFloor: l.memory_floor,
    diskFloorBytes: l.disk_floor_bytes,
    paused: await isPaused(tx),
    agents,
    credentials: await claimCredentials(tx),
    spill: await spillingPools(tx),
    runners,
    running: { fleet: 0, interactive: 0, agent: new Map(), credential: new Map() },
    live: { agent: new Map(), runner: new Map(), memory: new Map() },
    kept: { agent: new Map(), credential: new Map() },
    gates: await loadGates(tx),
    spending: { fleet: [], gates: new Map(), expected: new Map() },
  };
  const run = (await running(tx, {})).rows;
  const wait = (await waiting(tx, {})).rows;
  for (const h of run) {
    addRunning(world, h);
    addLive(world, h);
  }
  for (const h of wait) addLive(world, h);
  world.spending = await loadSpending(tx, agents.keys(), world.live.agent);
  return { world, scanned: run.length + wait.length };
};
