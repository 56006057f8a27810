/** Schedules as people make and change them. They go with their agent: one made again under its name inherits none (drill 36). */
import type { Selectable } from 'kysely';
import { refuse } from '../../contract/errors.ts';
import { type ScheduleRow, scheduleLimits } from '../../contract/schedule.ts';
import type { Schedules } from '../schema.ts';
import type { ReadVerb, Tx, WriteVerb } from '../tx.ts';
import { tell } from './events.ts';
import { executionFrom, textsFrom } from './execution-row.ts';

const scheduleFrom = (r: Selectable<Schedules>): ScheduleRow => ({ ...r, enabled: r.enabled === 1 });

const taken = async (tx: Tx, s: { id: string; agent_id: string; name: string }): Promise<boolean> =>
  (await tx.db
    .selectFrom('schedules')
    .select('id')
    .where('agent_id', '=', s.agent_id)
    .where('name', '=', s.name)
    .where('id', '!=', s.id)
    .executeTakeFirst()) !== undefined;

const duplicate = (name: string) => refuse('duplicate', `name: the agent has a schedule named "${name}" already.`);

const changed = async (tx: Tx, s: ScheduleRow, change: string): Promise<void> => {
  tx.stirred.schedules_changed = true;
  await tell(tx, {
    type: 'schedule.changed',
    agent_name: s.agent_name,
    data: { schedule_id: s.id, change, next_fire_at: s.next_fire_at },
  });
};

export const createSchedule: WriteVerb<'create_schedule'> = async (tx, { schedule }) => {
  const agent = await tx.db
    .selectFrom('agents')
    .select('name')
    .where('id', '=', schedule.agent_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!agent) return refuse('not_found', `No agent ${schedule.agent_name}.`);
  if (await taken(tx, schedule)) return duplicate(schedule.name);
  const { n } = await tx.db
    .selectFrom('schedules')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('agent_id', '=', schedule.agent_id)
    .executeTakeFirstOrThrow();
  if (n >= scheduleLimits.perAgent)
    return refuse('conflict', `An agent has at most ${scheduleLimits.perAgent} schedules; delete one first.`);
  await tx.db
    .insertInto('schedules')
    .values({ ...schedule, enabled: schedule.enabled ? 1 : 0 })
    .execute();
  await changed(tx, schedule, 'created');
  return schedule;
};

export const updateSchedule: WriteVerb<'update_schedule'> = async (tx, { id, patch }) => {
  const found = tx.db.selectFrom('schedules').selectAll().where('id', '=', id);
  const before = await found.executeTakeFirst();
  if (!before) return null;
  if (patch.name !== undefined && (await taken(tx, { ...before, name: patch.name }))) return duplicate(patch.name);
  const { enabled, ...rest } = patch;
  await tx.db
    .updateTable('schedules')
    .set({ ...rest, ...(enabled !== undefined && { enabled: enabled ? 1 : 0 }), updated_at: tx.at.now })
    .where('id', '=', id)
    .execute();
  const row = scheduleFrom(await found.executeTakeFirstOrThrow());
  await changed(tx, row, enabled === undefined ? 'changed' : enabled ? 'enabled' : 'disabled');
  return row;
};

/** Its ticks go with the executions they were: retention takes both. */
export const deleteSchedule: WriteVerb<'delete_schedule'> = async (tx, { id }) => {
  const row = await tx.db.selectFrom('schedules').selectAll().where('id', '=', id).executeTakeFirst();
  if (!row) return { deleted: false };
  await tx.db.deleteFrom('schedules').where('id', '=', id).execute();
  await changed(tx, { ...scheduleFrom(row), next_fire_at: null }, 'deleted');
  return { deleted: true };
};

export const schedules: ReadVerb<'schedules'> = async (tx, { agent_id }) => {
  let q = tx.db.selectFrom('schedules').selectAll();
  if (agent_id !== undefined) q = q.where('agent_id', '=', agent_id);
  return (await q.orderBy('agent_name').orderBy('name').execute()).map(scheduleFrom);
};

export const schedule: ReadVerb<'schedule'> = async (tx, { id }) => {
  const row = await tx.db.selectFrom('schedules').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : scheduleFrom(row);
};

export const dueSchedules: ReadVerb<'due_schedules'> = async (tx, { now, limit }) => {
  const q = tx.db.selectFrom('schedules').where('next_due_at', 'is not', null);
  const due = await q
    .selectAll()
    .where('next_due_at', '<=', now)
    .orderBy('next_due_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  const next = await q.select('next_due_at').where('next_due_at', '>', now).orderBy('next_due_at').executeTakeFirst();
  return { due: due.map(scheduleFrom), next: next?.next_due_at ?? null };
};

export const scheduleTicks: ReadVerb<'schedule_ticks'> = async (tx, { schedule_id, before, limit }) => {
  let q = tx.db.selectFrom('ticks').selectAll().where('schedule_id', '=', schedule_id);
  if (before !== undefined) q = q.where('fire_at', '<', before);
  const ticks = await q.orderBy('fire_at', 'desc').limit(limit).execute();
  if (ticks.length === 0) return [];
  const ids = ticks.map((t) => t.execution_id);
  const rows = new Map(
    (await tx.db.selectFrom('executions').selectAll().where('id', 'in', ids).execute()).map((r) => [r.id, r]),
  );
  const texts = new Map(
    (await tx.db.selectFrom('execution_texts').selectAll().where('execution_id', 'in', ids).execute()).map((t) => [
      t.execution_id,
      t,
    ]),
  );
  return ticks.flatMap((t) => {
    const row = rows.get(t.execution_id);
    const text = texts.get(t.execution_id);
    return row === undefined || text === undefined
      ? []
      : [{ fire_at: t.fire_at, by_hand: t.by_hand === 1, execution: { ...executionFrom(row), ...textsFrom(text) } }];
  });
};

export const tickOf: ReadVerb<'tick_of'> = async (tx, { execution_id }) => {
  const tick = await tx.db.selectFrom('ticks').selectAll().where('execution_id', '=', execution_id).executeTakeFirst();
  if (!tick) return null;
  const of = await tx.db.selectFrom('schedules').select('name').where('id', '=', tick.schedule_id).executeTakeFirst();
  return { schedule_id: tick.schedule_id, name: of?.name ?? null, fire_at: tick.fire_at };
};
