/**
 * The one way to a terminal state, for every verb. In one transaction: the row ends once, the calls that waited for it close, the
 * children it waited for are cancelled down the tree (F10), its chat session passes on, and the event is written. Slots need no
 * release: they are counted from rows.
 */
import { sql } from 'kysely';
import type { Cause } from '../../contract/causes.ts';
import { isTerminal } from '../../contract/status.ts';
import { lit, statement } from '../statement.ts';
import type { Tx } from '../tx.ts';
import { closeCallsOf, closeCallsOn, markAwaited, waitedFor } from './calls.ts';
import { closeQuestionsOf } from './close-items.ts';
import { tell } from './events.ts';
import { executionById, type Row } from './execution-row.ts';
import { passPlace } from './fan-out-place.ts';
import { notNegative } from './measured.ts';
import { passTurn } from './session-turn.ts';

export interface Ending {
  status: 'success' | 'failed' | 'cancelled';
  cause: Cause;
  /** Columns that the ending knows besides: cost, duration, usage. */
  more?: Partial<Row>;
  data?: Record<string, unknown>;
}

const endAttempt = statement<{ id: string; now: number }, unknown>((db, s) =>
  db.updateTable('attempts').set({ ended_at: s.now }).where('id', '=', s.id).where('ended_at', 'is', null),
);
const setError = statement<{ id: string; error: string }, unknown>((db, s) =>
  db.updateTable('execution_texts').set({ error: s.error }).where('execution_id', '=', s.id),
);
const endRow = statement<
  { id: string; status: Ending['status']; cause: Cause; now: number; queued_ms: number | null },
  unknown
>((db, s) =>
  db
    .updateTable('executions')
    .set({
      status: s.status,
      cause: s.cause,
      completed_at: s.now,
      queued_ms: s.queued_ms,
      token: sql.lit(null),
      lane: sql.lit(null),
      awaited: lit.zero,
      expires_at: sql.lit(null),
      not_before: sql.lit(null),
      ripe_at: sql.lit(null),
      waiting_since: sql.lit(null),
      silent: lit.zero,
    })
    .where('id', '=', s.id)
    .where('completed_at', 'is', null),
);

export const queuedMs = (tx: Tx, row: Row): number =>
  row.status === 'queued' ? row.waited_ms + Math.max(0, tx.at.steady - row.eligible_at) : row.waited_ms;

export const end = async (tx: Tx, row: Row, ending: Ending): Promise<void> => {
  if (isTerminal(row.status)) throw new Error(`execution ${row.id} has ended already as ${row.status}`);
  const { changes } = await endRow(tx, {
    id: row.id,
    status: ending.status,
    cause: ending.cause,
    now: tx.at.now,
    queued_ms: notNegative(queuedMs(tx, row)),
  });
  if (changes !== 1) throw new Error(`execution ${row.id} has ended already`);
  if (ending.more) await tx.db.updateTable('executions').set(ending.more).where('id', '=', row.id).execute();
  if (row.attempt_id !== null) await endAttempt(tx, { id: row.attempt_id, now: tx.at.now });
  await tell(tx, {
    type: 'execution.settled',
    execution_id: row.id,
    agent_name: row.agent_name,
    data: { status: ending.status, cause: ending.cause, ...ending.data },
  });
  tx.stirred.ended.push(row.id);
  tx.stirred.claimable = true;
  if (ending.status === 'cancelled') await closeQuestionsOf(tx, row);
  await closeCallsOn(tx, row.id);
  if (row.attempt > 0) await dropCallsOf(tx, row);
  await passTurn(tx, row);
  await passPlace(tx, row);
};

/** The sentence a person reads with a failure. */
export const sayError = async (tx: Tx, id: string, error: string): Promise<void> => {
  await setError(tx, { id, error });
};

const begun = statement<{ id: string }, { begun_at: number | null }>((db, s) =>
  db.selectFrom('attempts').select('begun_at').where('id', '=', s.id),
);
const request = statement<{ id: string; now: number }, unknown>((db, s) =>
  db
    .updateTable('executions')
    .set({ cancel_requested_at: s.now })
    .where('id', '=', s.id)
    .where('cancel_requested_at', 'is', null),
);

type Stopped = 'cancelled_while_queued' | 'terminated';

/** For a row that has not ended. */
export const stopExecution = async (tx: Tx, row: Row, by: string, reason: string | null): Promise<Stopped> => {
  const data = { by, ...(reason === null ? {} : { reason }) };
  if (row.status === 'queued') {
    await end(tx, row, { status: 'cancelled', cause: 'cancelled', data });
    return 'cancelled_while_queued';
  }
  const attempt = (await begun(tx, { id: row.attempt_id! })).rows[0];
  if (attempt?.begun_at === null) {
    await end(tx, row, { status: 'cancelled', cause: 'cancelled', data });
    return 'terminated';
  }
  const { changes } = await request(tx, { id: row.id, now: tx.at.now });
  tx.stirred.stops.push({ execution_id: row.id, runner_id: row.runner_id! });
  if (changes === 1) {
    await tell(tx, { type: 'execution.cancel_requested', execution_id: row.id, agent_name: row.agent_name, data });
    await cancelChildren(tx, await waitedFor(tx, row.id));
  }
  return 'terminated';
};

/** Cancels what the row waits for, down the tree; the calls stay open until their children have ended. */
const cancelChildren = async (tx: Tx, children: readonly string[]): Promise<void> => {
  for (const id of children) {
    const child = await executionById(tx, id);
    if (child && child.completed_at === null) await stopExecution(tx, child, 'its caller', null);
  }
};

/** The attempt is over: nobody waits any more, and what was waited for is cancelled. */
export const dropCallsOf = async (tx: Tx, caller: Pick<Row, 'id'>): Promise<void> => {
  const children = await waitedFor(tx, caller.id);
  if (children.length === 0) return;
  await cancelChildren(tx, children);
  await closeCallsOf(tx, caller.id);
  for (const id of children) await markAwaited(tx, id);
};
