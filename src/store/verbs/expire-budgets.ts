/**
 * Queue budgets (R12, R13): a row whose budget ran out fails with the reason that binds it now. When that is a cap, the text is the
 * exact sentence clients know. Nothing was started, so a retry is safe, and no credential is touched. Each row alone (drill 35).
 */
import { sql } from 'kysely';
import { type Cause, causes } from '../../contract/causes.ts';
import { capReasons, type WaitReason } from '../../contract/limits.ts';
import { admits } from '../claim/binding.ts';
import { earliestReset } from '../claim/lend.ts';
import { capOf, type World } from '../claim/world.ts';
import { lit, statement } from '../statement.ts';
import type { Tx, WriteVerb } from '../tx.ts';
import { passBudgets } from './budgets.ts';
import { loadQueue } from './claim-queue.ts';
import { loadWorld } from './claim-world.ts';
import { end, queuedMs, sayError } from './end.ts';
import type { Row } from './execution-row.ts';
import { watchFloors } from './host-floors.ts';
import { ripen } from './ripen.ts';
import { keepLimits, takeResumes } from './take-resumes.ts';
import { overlay, recordSpans } from './wait-spans.ts';
import { passWeather } from './weather.ts';
import { weatherMs } from './weather-parked.ts';

const expiredAfter = statement<{ steady: number; after: number; after_id: string; most: number }, Row>((db, s) =>
  db
    .selectFrom('executions')
    .selectAll()
    .where('expires_at', '<=', s.steady)
    .where(sql<boolean>`(expires_at, id) > (${s.after}, ${s.after_id})`)
    .orderBy('expires_at')
    .orderBy('id')
    .limit(s.most),
);
const nextExpiry = statement<object, { expires_at: number }>((db) =>
  db
    .selectFrom('executions')
    .select(sql<number>`expires_at`.as('expires_at'))
    .where('expires_at', 'is not', null)
    .orderBy('expires_at')
    .limit(lit.one),
);
const stays = statement<{ id: string }, { eligible_at: number; claimed_steady: number }>((db, s) =>
  db
    .selectFrom('attempts')
    .select(['eligible_at', 'claimed_steady'])
    .where('execution_id', '=', s.id)
    .orderBy('number'),
);
const setDetails = statement<{ id: string; details: string }, unknown>((db, s) =>
  db.updateTable('execution_texts').set({ wait_details: s.details }).where('execution_id', '=', s.id),
);

export const expireBudgets: WriteVerb<'expire_budgets'> = async (tx, args) => {
  await keepLimits(tx, args.limits);
  await ripen(tx);
  await passWeather(tx);
  await passBudgets(tx);
  await watchFloors(tx, args.limits);
  const { world } = await loadWorld(tx, args.limits);
  const { queue } = await loadQueue(tx);
  await recordSpans(tx, world, [...queue.children, ...queue.roots]);
  const expired: string[] = [];
  let from = { expires_at: Number.MIN_SAFE_INTEGER, id: '' };
  while (expired.length < args.max) {
    const most = Math.min(100, args.max - expired.length);
    const { rows } = await expiredAfter(tx, { steady: tx.at.steady, after: from.expires_at, after_id: from.id, most });
    for (const row of rows) {
      const done = await tx.alone(() => expire(tx, world, row));
      if (done.ok) {
        if (done.value) expired.push(row.id);
      } else tx.odd(`execution ${row.id} cannot be expired`, done.error);
    }
    if (rows.length < most) break;
    const last = rows.at(-1)!;
    from = { expires_at: last.expires_at!, id: last.id };
  }
  await takeResumes(tx);
  const next = (await nextExpiry(tx, {})).rows[0];
  return { expired, next_expiry: next ? next.expires_at : null };
};

/** Why a queued row waits now. */
export const reasonNow = (
  w: World,
  row: Pick<Row, 'id' | 'agent_id' | 'depth' | 'behind' | 'awaited' | 'ripe_at' | 'fan_out_id' | 'credential_id'>,
  steady: number,
): WaitReason => {
  if (row.behind === 1) return behindWhat(row);
  // Ripe rows stay parked until the next claim or sweep looks at them.
  if (row.ripe_at !== null && row.ripe_at > steady) return 'not_before';
  const { id, agent_id, depth, credential_id: wanted } = row;
  const candidate = { id, agent_id, depth, nested: row.awaited === 1, wanted };
  return admits(w, candidate, w.runners).binds ?? 'turn';
};

/** What a row that stands behind waits for: the turns of its session, or the places of its batch. */
const behindWhat = (row: Pick<Row, 'fan_out_id'>): 'session_busy' | 'fan_out_cap' =>
  row.fan_out_id === null ? 'session_busy' : 'fan_out_cap';

const isCap = (reason: WaitReason): boolean => capReasons.includes(reason);

const putOff = statement<{ id: string; until: number }, unknown>((db, s) =>
  db.updateTable('executions').set({ expires_at: s.until }).where('id', '=', s.id),
);

/** Ms for which every credential of it was used up with a reset that is known: no part of its budget (R12). */
const loginMs = async (tx: Tx, w: World, row: Row, reason: WaitReason): Promise<number> => {
  const agent = w.agents.get(row.agent_id);
  if (reason === 'credentials_exhausted' && (agent === undefined || earliestReset(w, agent) === null)) return 0;
  return (await waitDetails(tx, row, reason)).credentials_exhausted ?? 0;
};

/** False: its budget is not spent after all: an incident of its provider (R40) or a reset to come (R38) held it up. */
const expire = async (tx: Tx, w: World, row: Row): Promise<boolean> => {
  const reason = reasonNow(w, row, tx.at.steady);
  const ms = queuedMs(tx, row);
  const parked = (await weatherMs(tx, row.agent_id, await staysOf(tx, row))) + (await loginMs(tx, w, row, reason));
  if (parked > 0 && row.queue_budget_ms !== null && ms - parked < row.queue_budget_ms) {
    await putOff(tx, { id: row.id, until: tx.at.steady + row.queue_budget_ms - (ms - parked) });
    return false;
  }
  const cap = isCap(reason);
  const cause: Cause = cap ? 'call_budget_exhausted' : causeOf(reason);
  await sayError(
    tx,
    row.id,
    cap
      ? `Backend call budget exhausted for ${row.agent_name} after ${ms}ms (agent_cap=${capOf(w, row.agent_id)}, global_cap=${w.fleetCap})`
      : `${causes[cause].title}: ${row.agent_name} waited ${ms}ms. ${causes[cause].advice}`.trimEnd(),
  );
  await setDetails(tx, { id: row.id, details: JSON.stringify(await waitDetails(tx, row, reason)) });
  await end(tx, row, { status: 'failed', cause, data: { reason, waited_ms: ms } });
  return true;
};

/** The reasons that are not caps are causes of their own name. A parked row has no budget running: `not_before` cannot end one. */
const causeOf = (reason: WaitReason): Cause => (reason in causes ? (reason as Cause) : 'call_budget_exhausted');

/** Its times in the queue, steady ms. */
const staysOf = async (tx: Tx, row: Row): Promise<{ from: number; to: number }[]> => [
  ...(await stays(tx, { id: row.id })).rows.map((s) => ({ from: s.eligible_at, to: s.claimed_steady })),
  { from: row.eligible_at, to: tx.at.steady },
];

/** ms per reason over all stays in the queue: its session's line first, then what bound its lane. */
const waitDetails = async (tx: Tx, row: Row, reason: WaitReason): Promise<Record<string, number>> => {
  const { steady } = tx.at;
  const behind = row.behind_ms + (row.behind === 1 ? Math.max(0, steady - (row.behind_since ?? steady)) : 0);
  const ms: Record<string, number> = behind > 0 ? { [behindWhat(row)]: behind } : {};
  const all = await staysOf(tx, row);
  // Only the first stay can begin in a session's line: later the row holds the session itself.
  all[0]!.from += behind;
  for (const { from, to } of all)
    if (to > from)
      await overlay(tx, ms, {
        agent_id: row.agent_id,
        lane: row.awaited === 1 ? 'nested' : row.class,
        from,
        to,
        rest: reason,
      });
  return ms;
};
