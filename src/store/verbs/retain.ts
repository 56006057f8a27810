/**
 * Retention, a small batch at a time: what is older than it is kept for goes, oldest first. Whole executions only, and only
 * ended ones; the newest event stays whatever its age, because event ids are read as "the last one so far". The append-only
 * records (audit, credential events) are not touched.
 */
import { limits } from '../../contract/limits.ts';
import { moneyLimits } from '../../contract/money.ts';
import type { Tx, WriteVerb } from '../tx.ts';

type Step = (tx: Tx, max: number) => Promise<number>;

export const retain: WriteVerb<'retain'> = async (tx, { events_before, executions_before, max }) => {
  const steps: Step[] = [
    (t, n) => oldEvents(t, events_before, n),
    (t, n) => oldExecutions(t, executions_before, n),
    (t, n) => oldFanOuts(t, executions_before, n),
    (t, n) => oldItems(t, executions_before, n),
    (t, n) => oldNotifications(t, executions_before, n),
    oldIdempotencyKeys,
    oldWaitSpans,
    oldLogins,
    oldCosts,
    (t, n) => oldWeather(t, executions_before, n),
  ];
  let deleted = 0;
  for (const step of steps) {
    if (deleted >= max) break;
    deleted += await step(tx, max - deleted);
  }
  return { deleted, more: deleted >= max };
};

/** Read in the order of ids and judged here: `at` has no index, and a search for it would read the whole table for nothing. */
const oldEvents = async (tx: Tx, before: number, max: number): Promise<number> => {
  const oldest = await tx.db
    .selectFrom('events')
    .select(['id', 'at'])
    .orderBy('id')
    .limit(max + 1)
    .execute();
  const old = oldest.slice(0, -1).filter((e) => e.at < before);
  const last = old.at(-1);
  if (last === undefined) return 0;
  // Events older by id are gone with it, also one that a clock set back has dated later.
  const done = await tx.db.deleteFrom('events').where('id', '<=', last.id).executeTakeFirstOrThrow();
  return Number(done.numDeletedRows);
};

const oldExecutions = async (tx: Tx, before: number, max: number): Promise<number> => {
  const rows = await tx.db
    .selectFrom('executions')
    .select('id')
    .where('completed_at', 'is not', null)
    .where('completed_at', '<', before)
    .orderBy('completed_at')
    .limit(max)
    .execute();
  if (rows.length === 0) return 0;
  const ids = rows.map((r) => r.id);
  await tx.db
    .deleteFrom('attempt_facts')
    .where('attempt_id', 'in', (q) => q.selectFrom('attempts').select('id').where('execution_id', 'in', ids))
    .execute();
  await tx.db.deleteFrom('attempts').where('execution_id', 'in', ids).execute();
  await tx.db.deleteFrom('calls').where('execution_id', 'in', ids).execute();
  await tx.db.deleteFrom('ticks').where('execution_id', 'in', ids).execute();
  await tx.db.deleteFrom('execution_texts').where('execution_id', 'in', ids).execute();
  await tx.db.deleteFrom('executions').where('id', 'in', ids).execute();
  return ids.length;
};

/** Empty ones: the batch goes with the last of its executions. */
const oldFanOuts = async (tx: Tx, before: number, max: number): Promise<number> => {
  const old = await tx.db
    .selectFrom('fan_outs')
    .select('id')
    .where('created_at', '<', before)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb.selectFrom('executions').select('executions.id').whereRef('executions.fan_out_id', '=', 'fan_outs.id'),
        ),
      ),
    )
    .orderBy('created_at')
    .limit(max)
    .execute();
  for (const { id } of old) await tx.db.deleteFrom('fan_outs').where('id', '=', id).execute();
  return old.length;
};

/** What waits for a person or is on its way back to who asked stays, however long. */
const oldItems = async (tx: Tx, before: number, max: number): Promise<number> => {
  const old = await tx.db
    .selectFrom('operator_items')
    .select('id')
    .where('status', 'in', ['acknowledged', 'answered', 'closed'])
    .where('updated_at', '<', before)
    .where((eb) => eb.or([eb('status', '!=', 'acknowledged'), eb('kind', '=', 'alert')]))
    .where((eb) => eb.or([eb('delivery', 'is', null), eb('delivery', '!=', 'pending')]))
    .orderBy('id')
    .limit(max)
    .execute();
  for (const { id } of old) await tx.db.deleteFrom('operator_items').where('id', '=', id).execute();
  return old.length;
};

const oldNotifications = async (tx: Tx, before: number, max: number): Promise<number> => {
  const old = await tx.db
    .selectFrom('notifications')
    .select('id')
    .where('ended_at', 'is not', null)
    .where('ended_at', '<', before)
    .orderBy('ended_at')
    .limit(max)
    .execute();
  for (const { id } of old) await tx.db.deleteFrom('notifications').where('id', '=', id).execute();
  return old.length;
};

const oldIdempotencyKeys: Step = async (tx, max) => {
  const old = await tx.db
    .selectFrom('idempotency')
    .select(['scope', 'key'])
    .where('stored_steady', '<', tx.at.steady - limits.idempotencyMs)
    .orderBy('stored_steady')
    .limit(max)
    .execute();
  for (const { scope, key } of old)
    await tx.db.deleteFrom('idempotency').where('scope', '=', scope).where('key', '=', key).execute();
  return old.length;
};

/** Longer than the longest queue budget: a row that ends by its budget finds all its spans. */
const spansMs = (limits.queueTimeoutS.max + 86_400) * 1_000;

const oldWaitSpans: Step = async (tx, max) => {
  const old = await tx.db
    .selectFrom('wait_spans')
    .select(['agent_id', 'class', 'from_at'])
    .where('to_at', 'is not', null)
    .where('to_at', '<', tx.at.steady - spansMs)
    .orderBy('to_at')
    .limit(max)
    .execute();
  for (const s of old)
    await tx.db
      .deleteFrom('wait_spans')
      .where('agent_id', '=', s.agent_id)
      .where('class', '=', s.class)
      .where('from_at', '=', s.from_at)
      .execute();
  return old.length;
};

/** Incidents that are over, with what belongs to them; failures that never were one. */
const oldWeather = async (tx: Tx, before: number, max: number): Promise<number> => {
  const incidents = await tx.db
    .selectFrom('incidents')
    .select('id')
    .where('closed_at', 'is not', null)
    .where('closed_at', '<', before)
    .limit(max)
    .execute();
  for (const { id } of incidents) {
    await tx.db.deleteFrom('incident_probes').where('incident_id', '=', id).execute();
    await tx.db.deleteFrom('incidents').where('id', '=', id).execute();
  }
  const failures = await tx.db
    .selectFrom('weather_failures')
    .select('id')
    .where('at', '<', before)
    .orderBy('id')
    .limit(max)
    .execute();
  for (const { id } of failures) await tx.db.deleteFrom('weather_failures').where('id', '=', id).execute();
  const reports = await tx.db.deleteFrom('morning_reports').where('created_at', '<', before).executeTakeFirstOrThrow();
  return incidents.length + failures.length + Number(reports.numDeletedRows);
};

const oldCosts: Step = async (tx, max) => {
  const old = await tx.db
    .selectFrom('cost_rows')
    .select('attempt_id')
    .where('at', '<', tx.at.now - moneyLimits.keepMs)
    .orderBy('at')
    .limit(max)
    .execute();
  for (const { attempt_id } of old) await tx.db.deleteFrom('cost_rows').where('attempt_id', '=', attempt_id).execute();
  return old.length;
};

const oldLogins: Step = async (tx, max) => {
  const old = await tx.db.selectFrom('logins').select('hash').where('expires_at', '<=', tx.at.now).limit(max).execute();
  for (const { hash } of old) await tx.db.deleteFrom('logins').where('hash', '=', hash).execute();
  return old.length;
};
