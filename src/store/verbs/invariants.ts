/** What must be true of the rows at any time, asked of the live installation (`drover doctor`). Each answer says what it found. */
import { sql } from 'kysely';
import { fleetSettings } from '../../contract/limits.ts';
import { capOf } from '../claim/world.ts';
import type { ReadTx, ReadVerb } from '../tx.ts';
import { loadWorld } from './claim-world.ts';

interface Rule {
  name: string;
  /** Ids of rows that break it; at most a few are read. */
  broken: ReturnType<typeof sql<{ id: string }>>;
}

const rules: readonly Rule[] = [
  {
    name: 'every live execution has one open attempt with its token',
    broken: sql`select e.id from executions e where e.status in ('running', 'waiting') and not exists (
      select 1 from attempts a where a.id = e.attempt_id and a.token = e.token and a.ended_at is null) limit 5`,
  },
  {
    name: 'every open attempt belongs to a live execution',
    broken: sql`select a.id from attempts a where a.ended_at is null and a.lease_until > 0 and not exists (
      select 1 from executions e where e.id = a.execution_id and e.token = a.token) limit 5`,
  },
  {
    name: 'every open call is waited for by the attempt that made it',
    broken: sql`select c.child_id as id from calls c where c.closed_at is null and c.child_id > '' and not exists (
      select 1 from executions e where e.id = c.execution_id and e.token = c.token) limit 5`,
  },
  {
    name: 'every open call is for an execution that has not ended',
    broken: sql`select c.child_id as id from calls c where c.closed_at is null and c.child_id > '' and not exists (
      select 1 from executions e where e.id = c.child_id and e.completed_at is null) limit 5`,
  },
  {
    name: 'nested in the queue is what an open call waits for',
    broken: sql`select e.id from executions e where e.lane = 'nested' and not exists (
      select 1 from calls c where c.child_id = e.id and c.closed_at is null) limit 5`,
  },
  {
    name: 'whoever stands behind in a session has somebody before it',
    broken: sql`select e.id from executions e where e.behind = 1 and e.completed_at is null and e.agent_id > '' and e.fan_out_id is null and not exists (
      select 1 from executions h where h.session_id = e.session_id and h.behind = 0 and h.completed_at is null) limit 5`,
  },
  {
    name: 'whoever waits for a place of its batch has an open one before it',
    broken: sql`select e.id from executions e where e.behind = 1 and e.completed_at is null and e.agent_id > '' and e.fan_out_id is not null and not exists (
      select 1 from executions h where h.fan_out_id = e.fan_out_id and h.behind = 0 and h.completed_at is null) limit 5`,
  },
];

const check = async (tx: ReadTx, rule: Rule) => {
  const { rows } = await rule.broken.execute(tx.db);
  const found = rows.length === 0 ? 'none breaks it' : `broken by ${rows.map((r) => r.id).join(', ')}`;
  return { name: rule.name, ok: rows.length === 0, found };
};

/** Steady caps only: rows that ran already when a cap was lowered, or whose call was given up, are over it rightly. */
const caps: ReadVerb<'invariants'> = async (tx, { limits }) => {
  const { world } = await loadWorld(tx, limits);
  const changed = await tx.db
    .selectFrom('settings')
    .select('updated_at')
    .where('key', '=', fleetSettings.agentCallLimit)
    .executeTakeFirst();
  const fleet = world.running.fleet;
  const newer = await tx.db
    .selectFrom('executions')
    .innerJoin('attempts', 'attempts.id', 'executions.attempt_id')
    .select(sql<number>`count(*)`.as('n'))
    .where('executions.status', '=', sql.lit('running' as const))
    .where('attempts.claimed_at', '>', changed?.updated_at ?? 0)
    .executeTakeFirstOrThrow();
  const over = [...world.running.agent].filter(([id, n]) => n > capOf(world, id));
  return [
    {
      name: 'claims since the fleet limit was last changed keep it',
      ok: Number(newer.n) <= world.fleetCap,
      found: `${fleet} of ${world.fleetCap} run`,
    },
    {
      name: 'no agent runs more than its cap, unless the cap was lowered or a call given up',
      ok: true,
      found: over.length === 0 ? 'none does' : over.map(([id, n]) => `${id}: ${n} of ${capOf(world, id)}`).join(', '),
    },
  ];
};

export const invariants: ReadVerb<'invariants'> = async (tx, args) => {
  const found = [];
  for (const rule of rules) found.push(await check(tx, rule));
  return [...found, ...(await caps(tx, args))];
};
