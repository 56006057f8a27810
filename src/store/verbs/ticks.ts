/**
 * A tick is stored with its execution and with its schedule moved on, in one transaction: killed before the commit nothing
 * happened, after it everything did (R43). Who comes second, another server or this one after a crash, finds the schedule not
 * where it expected it and stores nothing.
 */
import { isRefusal, refuse } from '../../contract/errors.ts';
import type { Tick } from '../../contract/schedule.ts';
import { insertInto } from '../statement.ts';
import type { EnqueueArgs, EnqueueResult } from '../store.ts';
import type { Tx, WriteVerb } from '../tx.ts';
import { tell } from './events.ts';
import { executionFrom, mustHave } from './execution-row.ts';

const insertTick = insertInto('ticks', ['schedule_id', 'fire_at', 'execution_id', 'ran', 'by_hand']);
/** A row that was never in the queue: it has what a row must have, and its end. */
const insertSkipped = insertInto('executions', [
  'id',
  'agent_id',
  'agent_name',
  'kind',
  'status',
  'triggered_by',
  'class',
  'durable',
  'depth',
  'root_id',
  'timeout_s',
  'max_retries',
  'queued_at',
  'since_at',
  'eligible_at',
  'completed_at',
]);
const insertTexts = insertInto('execution_texts', ['execution_id', 'message', 'options', 'error']);

/** Runs of a schedule that may still go are among its newest ones: a backlog holds no more by default. */
const newestRuns = 200;

const stillRuns = async (tx: Tx, schedule_id: string): Promise<boolean> => {
  const newest = await tx.db
    .selectFrom('ticks')
    .select('execution_id')
    .where('schedule_id', '=', schedule_id)
    .where('ran', '=', 1)
    .orderBy('fire_at', 'desc')
    .limit(newestRuns)
    .execute();
  if (newest.length === 0) return false;
  const live = await tx.db
    .selectFrom('executions')
    .select('id')
    .where(
      'id',
      'in',
      newest.map((t) => t.execution_id),
    )
    .where('completed_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return live !== undefined;
};

const scheduleAt = (tx: Tx, id: string) =>
  tx.db.selectFrom('schedules').selectAll().where('id', '=', id).executeTakeFirst();

const moveOn = (tx: Tx, id: string, fire_at: number | null, next: Tick['next']) =>
  tx.db
    .updateTable('schedules')
    .set({ last_fire_at: fire_at, next_fire_at: next?.fire_at ?? null, next_due_at: next?.due_at ?? null })
    .where('id', '=', id)
    .execute();

/** `add` puts the work into the queue; it refuses as for everybody, and then nothing is stored. */
export const enqueueTick = async (
  tx: Tx,
  args: EnqueueArgs & { tick: Tick },
  add: () => Promise<EnqueueResult>,
): Promise<EnqueueResult> => {
  const { tick } = args;
  const row = await scheduleAt(tx, tick.schedule_id);
  if (!row || row.agent_id !== args.agent_id) return refuse('not_found', 'The schedule is not there any more.');
  const byHand = tick.expected === null;
  if (!byHand && row.next_fire_at !== tick.expected)
    return refuse('conflict', 'The tick is taken, or its schedule changed.');
  if (!byHand && row.overlap === 'skip' && (await stillRuns(tx, row.id))) {
    const reason = 'Skipped: an earlier run of the schedule had not ended.';
    await storeSkipped(
      tx,
      { ...row, timeout_s: args.timeout_s },
      { fire_at: tick.fire_at, execution_id: args.id, reason },
    );
    await moveOn(tx, row.id, tick.fire_at, tick.next);
    return { execution: executionFrom(await mustHave(tx, args.id)), replay: false, queue_position: 0 };
  }
  const added = await add();
  if (isRefusal(added)) return added;
  const fire_at = byHand ? await freePoint(tx, row.id, tick.fire_at) : tick.fire_at;
  await insertTick(tx, {
    schedule_id: row.id,
    fire_at,
    execution_id: added.execution.id,
    ran: 1,
    by_hand: byHand ? 1 : 0,
  });
  if (byHand) await tx.db.updateTable('schedules').set({ last_fire_at: tx.at.now }).where('id', '=', row.id).execute();
  else await moveOn(tx, row.id, tick.fire_at, tick.next);
  return added;
};

/** Two by hand within one ms, or one in the ms of a tick, each have a place of their own. */
const freePoint = async (tx: Tx, schedule_id: string, from: number): Promise<number> => {
  for (let at = from; ; at++) {
    const there = await tx.db
      .selectFrom('ticks')
      .select('fire_at')
      .where('schedule_id', '=', schedule_id)
      .where('fire_at', '=', at)
      .executeTakeFirst();
    if (!there) return at;
  }
};

export const skipTicks: WriteVerb<'skip_ticks'> = async (tx, { schedule_id, expected, ticks, next, timeout_s }) => {
  const row = await scheduleAt(tx, schedule_id);
  if (!row || row.next_fire_at !== expected) return { moved: false };
  for (const t of ticks) await storeSkipped(tx, { ...row, timeout_s }, t);
  await moveOn(tx, row.id, ticks.at(-1)?.fire_at ?? row.last_fire_at, next);
  return { moved: true };
};

const storeSkipped = async (
  tx: Tx,
  s: { id: string; agent_id: string; agent_name: string; message: string; model: string | null; timeout_s: number },
  t: { fire_at: number; execution_id: string; reason: string },
): Promise<void> => {
  const { now, steady } = tx.at;
  await insertSkipped(tx, {
    id: t.execution_id,
    agent_id: s.agent_id,
    agent_name: s.agent_name,
    kind: 'task',
    status: 'skipped',
    triggered_by: 'schedule',
    class: 'batch',
    durable: 1,
    depth: 0,
    root_id: t.execution_id,
    timeout_s: s.timeout_s,
    max_retries: 0,
    queued_at: now,
    since_at: now,
    eligible_at: steady,
    completed_at: now,
  });
  await insertTexts(tx, {
    execution_id: t.execution_id,
    message: s.message,
    options: JSON.stringify({ model: s.model }),
    error: t.reason,
  });
  await insertTick(tx, { schedule_id: s.id, fire_at: t.fire_at, execution_id: t.execution_id, ran: 0, by_hand: 0 });
  await tell(tx, {
    type: 'execution.skipped',
    execution_id: t.execution_id,
    agent_name: s.agent_name,
    data: { schedule_id: s.id, fire_at: t.fire_at },
  });
};
