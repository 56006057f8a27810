/**
 * Calls between agents: every blocking wait of an execution is a yield (R17). The caller becomes waiting and gives agent, fleet and
 * credential back at once; it keeps attempt, token, session and room. One may wait only for rows one created, with one's token.
 */
import { type Refusal, refuse } from '../../contract/errors.ts';
import { insertInto, lit, statement } from '../statement.ts';
import type { Tx, WriteVerb } from '../tx.ts';
import { hasOpenCalls, markAwaited } from './calls.ts';
import { end, sayError, stopExecution } from './end.ts';
import { tell } from './events.ts';
import { executionById, mustHave, type Row } from './execution-row.ts';
import { resume, takeResumes } from './take-resumes.ts';

const insertCall = insertInto('calls', ['call_id', 'child_id', 'execution_id', 'token', 'opened_at']);
const yieldSlots = statement<{ id: string; now: number }, unknown>((db, s) =>
  db.updateTable('executions').set({ status: lit.waiting, waiting_since: s.now }).where('id', '=', s.id),
);
const desired = statement<{ id: string }, { desired_state: string; deleted_at: number | null }>((db, s) =>
  db.selectFrom('agents').select(['desired_state', 'deleted_at']).where('id', '=', s.id),
);

const mayWait = (caller: Row, child: Row | null, id: string): Refusal | null => {
  if (!child || child.parent_execution_id !== caller.id)
    return refuse('not_found', `Execution ${id} was not created by this one.`);
  // Nested work never stands behind root work (F1): the session rule of the submit holds at the wait too.
  if (child.behind === 1 && child.fan_out_id === null)
    return refuse('session_busy', `Execution ${id} stands behind another turn of its session.`, {
      retryAfterMs: 5_000,
    });
  return null;
};

export const openCall: WriteVerb<'open_call'> = async (tx, { call_id, caller, child_ids }) => {
  const row = await executionById(tx, caller.execution_id);
  if (!row || row.token !== caller.token || row.cancel_requested_at !== null)
    return refuse('caller_ended', 'The calling execution has ended, was cancelled, or runs as another attempt.');
  const known = await tx.db
    .selectFrom('calls')
    .select('execution_id')
    .where('call_id', '=', call_id)
    .executeTakeFirst();
  // Sent again after a lost answer: the call stands as it is.
  if (known)
    return known.execution_id === row.id ? { ok: true } : refuse('conflict', `Call ${call_id} is another caller's.`);
  const children: Row[] = [];
  for (const id of new Set(child_ids)) {
    const child = await executionById(tx, id);
    const no = mayWait(row, child, id);
    if (no) return no;
    if (child!.completed_at === null) children.push(child!);
  }
  // All have ended already: there is nothing to wait for, and no slot to give up.
  if (children.length === 0) return { ok: true };
  for (const child of children) {
    await insertCall(tx, {
      call_id,
      child_id: child.id,
      execution_id: row.id,
      token: caller.token,
      opened_at: tx.at.now,
    });
    await markAwaited(tx, child.id);
  }
  if (row.status === 'running') {
    await yieldSlots(tx, { id: row.id, now: tx.at.now });
    await tell(tx, {
      type: 'execution.waiting',
      execution_id: row.id,
      agent_name: row.agent_name,
      data: { call_id, for: children.map((c) => c.id) },
    });
  }
  for (const child of children) await failIfStopped(tx, child);
  tx.stirred.claimable = true;
  await takeResumes(tx);
  return { ok: true };
};

/** A child that somebody waits for does not wait for a stopped agent: it fails at once, typed (F4). */
const failIfStopped = async (tx: Tx, child: Row): Promise<void> => {
  if (child.status !== 'queued') return;
  const agent = (await desired(tx, { id: child.agent_id })).rows[0];
  if (agent?.desired_state === 'running' && agent.deleted_at === null) return;
  await failStopped(tx, await mustHave(tx, child.id));
};

export const failStopped = async (tx: Tx, child: Row): Promise<void> => {
  await sayError(tx, child.id, `Agent ${child.agent_name} is stopped.`);
  await end(tx, child, { status: 'failed', cause: 'agent_stopped' });
};

const openRows = statement<{ call_id: string }, { child_id: string; execution_id: string; token: string }>((db, s) =>
  db
    .selectFrom('calls')
    .select(['child_id', 'execution_id', 'token'])
    .where('call_id', '=', s.call_id)
    .where('closed_at', 'is', null),
);

/** The children of a call that is open, and its caller when the token is that of its present attempt; the call is closed. */
const close = async (tx: Tx, call_id: string, token: string): Promise<{ caller: Row; children: string[] } | null> => {
  const { rows } = await openRows(tx, { call_id });
  const caller = rows[0] && rows[0].token === token ? await executionById(tx, rows[0].execution_id) : null;
  if (!caller || caller.token !== token) return null;
  await tx.db
    .updateTable('calls')
    .set({ closed_at: tx.at.now })
    .where('call_id', '=', call_id)
    .where('closed_at', 'is', null)
    .execute();
  for (const { child_id } of rows) await markAwaited(tx, child_id);
  return { caller, children: rows.map((r) => r.child_id) };
};

/** A wait with a time limit ends through the resume like any other (F3); what was waited for goes on as work of its own. */
export const detachCall: WriteVerb<'detach_call'> = async (tx, { call_id, caller_token }) => {
  const closed = await close(tx, call_id, caller_token);
  if (closed) {
    tx.stirred.claimable = true;
    await takeResumes(tx);
  }
  return { ok: closed !== null };
};

/**
 * The CLI gave a call up: its children are cancelled, and the caller runs at once, even over the cap, because its process does
 * (F12). Claims see the true count and wait until it is below.
 */
export const abandonCall: WriteVerb<'abandon_call'> = async (tx, { call_id, caller_token }) => {
  const closed = await close(tx, call_id, caller_token);
  if (!closed) return { ok: false };
  const { caller, children } = closed;
  for (const id of behindFirst(await Promise.all(children.map((c) => mustHave(tx, c))))) {
    const child = await mustHave(tx, id);
    if (child.awaited === 0 && child.completed_at === null)
      await stopExecution(tx, child, 'its caller', 'the call was given up');
  }
  if (caller.status === 'waiting' && !(await hasOpenCalls(tx, caller.id, caller_token))) await resume(tx, caller);
  await takeResumes(tx);
  return { ok: true };
};

/** So that no place passes to a row that ends next. */
const behindFirst = (rows: readonly Row[]): string[] =>
  [...rows].sort((a, b) => b.behind - a.behind || (a.id < b.id ? -1 : 1)).map((r) => r.id);
