/**
 * A batch of ordinary executions, joined by data: all of them or none are put into the queue, in one transaction, and each then lives
 * the one life of every execution. Its state is read from theirs; there is no second record of it and no second dispatcher.
 */
import { isRefusal } from '../../contract/errors.ts';
import type { ExecutionRow } from '../../contract/execution.ts';
import { statement } from '../statement.ts';
import type { FanOutRow } from '../store.ts';
import type { ReadTx, ReadVerb, WriteVerb } from '../tx.ts';
import { leaveToOne } from './calls.ts';
import { stopExecution } from './end.ts';
import { add } from './enqueue.ts';
import { executionFrom, mustHave, type Row, textsFrom } from './execution-row.ts';
import { seenBefore } from './idempotency.ts';
import { openCall } from './open-call.ts';
import { orTakeBack } from './take-back.ts';
import { takeResumes } from './take-resumes.ts';

const byId = statement<{ id: string }, FanOutRow>((db, s) =>
  db.selectFrom('fan_outs').selectAll().where('id', '=', s.id),
);
const itemsOf = statement<{ id: string }, Row>((db, s) =>
  db.selectFrom('executions').selectAll().where('fan_out_id', '=', s.id).orderBy('id'),
);
const items = async (tx: ReadTx, id: string): Promise<Row[]> => (await itemsOf(tx, { id })).rows;

export const enqueueFanOut: WriteVerb<'enqueue_fan_out'> = async (tx, args) => {
  const { caller, open_call: call_id } = args;
  const wait = async (rows: readonly ExecutionRow[]) =>
    caller === null || call_id === null
      ? null
      : openCall(tx, { call_id, caller, child_ids: rows.map((r) => r.id), ...tx.at });
  if (args.idempotency) {
    const before = await seenBefore(tx, args.idempotency);
    if (isRefusal(before)) return before;
    if (before?.fan_out_id) {
      const { fan_out_id } = before;
      const executions = (await items(tx, fan_out_id)).map(executionFrom);
      return orTakeBack(tx, async () => {
        // The wait is joined, as in `enqueue`.
        if (call_id !== null && caller !== null)
          for (const { id: child_id } of executions)
            await leaveToOne(tx, { call_id, child_id, token: caller.token, now: tx.at.now });
        const opened = await wait(executions);
        if (isRefusal(opened)) return opened;
        return { fan_out: (await byId(tx, { id: fan_out_id })).rows[0]!, executions, replay: true };
      });
    }
  }
  return orTakeBack(tx, async () => {
    const executions: ExecutionRow[] = [];
    for (const [i, one] of args.items.entries()) {
      const behind = i < args.max_concurrency ? 0 : 1;
      // The key is the batch's: it is remembered with its first execution.
      const asked = { ...one, caller, open_call: null, idempotency: i === 0 ? args.idempotency : null };
      const added = await add(tx, asked, { fan_out_id: args.id, fan_out_item: one.item, behind });
      if (isRefusal(added)) return added;
      executions.push(added.execution);
    }
    const fan_out: FanOutRow = {
      id: args.id,
      agent_id: args.agent_id,
      agent_name: executions[0]!.agent_name,
      caller_execution_id: caller?.execution_id ?? null,
      max_concurrency: args.max_concurrency,
      tasks: executions.length,
      created_at: tx.at.now,
    };
    await tx.db.insertInto('fan_outs').values(fan_out).execute();
    const opened = await wait(executions);
    return isRefusal(opened) ? opened : { fan_out, executions, replay: false };
  });
};

/** What runs is told to stop, what waits ends here; what has ended is kept as it is. Those behind first: no place passes on. */
export const cancelFanOut: WriteVerb<'cancel_fan_out'> = async (tx, { id, by, reason }) => {
  if ((await byId(tx, { id })).rows.length === 0) return null;
  const open = (await items(tx, id)).filter((r) => r.completed_at === null).sort((a, b) => b.behind - a.behind);
  let cancelled = 0;
  for (const { id: each } of open) {
    const row = await mustHave(tx, each);
    if (row.completed_at !== null) continue;
    const done = await tx.alone(() => stopExecution(tx, row, by, reason));
    if (done.ok) cancelled++;
    else tx.odd(`execution ${row.id} cannot be cancelled`, done.error);
  }
  await takeResumes(tx);
  return { cancelled };
};

export const fanOut: ReadVerb<'fan_out'> = async (tx, { id }) => {
  const fan_out = (await byId(tx, { id })).rows[0];
  if (fan_out === undefined) return null;
  const rows = await items(tx, id);
  const texts = await tx.db
    .selectFrom('execution_texts')
    .selectAll()
    .where(
      'execution_id',
      'in',
      rows.map((r) => r.id),
    )
    .execute();
  const byExecution = new Map(texts.map((t) => [t.execution_id, textsFrom(t)]));
  return {
    fan_out,
    items: rows.map((r) => ({
      item: r.fan_out_item ?? r.id,
      execution: { ...executionFrom(r), ...byExecution.get(r.id)! },
    })),
  };
};
