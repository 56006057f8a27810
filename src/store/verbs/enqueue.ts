/**
 * Queue: stores an admitted request as one execution with its texts and its event. Everything that two submits could race for
 * is decided here, in the transaction: the idempotency key, the caller's right to call, depth, the backlog, the session.
 * A refusal leaves no row behind. When the caller waits for it, its call is opened in the same transaction (R17).
 */
import { isRefusal, type Refusal, refuse } from '../../contract/errors.ts';
import type { ExecutionKind } from '../../contract/execution.ts';
import { limits } from '../../contract/limits.ts';
import { unchanged } from '../remembered.ts';
import { insertInto, statement } from '../statement.ts';
import type { EnqueueArgs, EnqueueResult } from '../store.ts';
import type { Tx, WriteVerb } from '../tx.ts';
import { backlogFull, backlogGrew, placeInLine } from './backlog.ts';
import { leaveToOne } from './calls.ts';
import { tell } from './events.ts';
import { executionById, executionFrom, type Row } from './execution-row.ts';
import { remember, seenBefore } from './idempotency.ts';
import { openCall } from './open-call.ts';
import { placeFor } from './session-turn.ts';
import { orTakeBack } from './take-back.ts';
import { enqueueTick } from './ticks.ts';

/** Executions one execution may have asked for: nested calls are outside the backlog, so they need a bound of their own (R20). */
const childrenMax = 1_000;

interface QueueAgent {
  id: string;
  name: string;
  desired_state: string;
  max_backlog_depth: number | null;
  main_session_id: string | null;
}
const agentById = statement<{ id: string }, QueueAgent>((db, s) =>
  db
    .selectFrom('agents')
    .select(['id', 'name', 'desired_state', 'max_backlog_depth', 'main_session_id'])
    .where('id', '=', s.id)
    .where('deleted_at', 'is', null),
);
const childrenOf = statement<{ parent_execution_id: string; most: number }, { n: number }>((db, s) =>
  db
    .selectFrom(
      db
        .selectFrom('executions')
        .select('id')
        .where('parent_execution_id', '=', s.parent_execution_id)
        .limit(s.most)
        .as('rows'),
    )
    .select(db.fn.countAll<number>().as('n')),
);

const columns = [
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
  'parent_execution_id',
  'session_id',
  'behind',
  'behind_since',
  'cli_session_id',
  'timeout_s',
  'max_retries',
  'queued_at',
  'since_at',
  'eligible_at',
  'queue_budget_ms',
  'expires_at',
  'lane',
  'fan_out_id',
  'fan_out_item',
] as const;
const insertExecution = insertInto('executions', columns);
const insertTexts = insertInto('execution_texts', ['execution_id', 'message', 'options']);

/** Its main session changes with the first chat, so a chat reads the row again. */
const agentOf = async (tx: Tx, id: string, kind: ExecutionKind): Promise<QueueAgent | undefined> => {
  const key = `agent ${id}`;
  const known = kind === 'task' ? (unchanged(tx.engine).get(key) as QueueAgent | undefined) : undefined;
  if (known) return known;
  const agent = (await agentById(tx, { id })).rows[0];
  if (agent) unchanged(tx.engine).set(key, agent);
  return agent;
};

/** The row above this one, or a refusal: the caller that proves itself by its token, or a link a client gave. */
const parentOf = async (tx: Tx, args: EnqueueArgs): Promise<Row | null | Refusal> => {
  const { caller, request } = args;
  const parentId = caller?.execution_id ?? request.parent_execution_id;
  if (parentId === null) return null;
  const parent = await executionById(tx, parentId);
  if (caller) {
    if (!parent || parent.token !== caller.token || parent.cancel_requested_at !== null)
      return refuse('caller_ended', 'The calling execution has ended, was cancelled, or runs as another attempt.');
    const { n } = (await childrenOf(tx, { parent_execution_id: parentId, most: childrenMax })).rows[0]!;
    if (n >= childrenMax)
      return refuse('backlog_full', `One execution may ask for at most ${childrenMax} others.`, {
        retryAfterMs: 60_000,
      });
  } else if (!parent) return refuse('invalid', `parent_execution_id ${parentId} names no execution.`);
  if (parent.depth + 1 > args.max_depth) return tooDeep(parent.depth + 1, args.max_depth);
  return parent;
};

const tooDeep = (depth: number, max_depth: number): Refusal =>
  refuse('inter_agent_depth_exceeded', `This call would be at depth ${depth}; at most ${max_depth} is allowed.`, {
    details: { depth, max_depth },
  });

const overBacklog = (agent: string, queue_length: number, max_backlog_depth: number): Refusal =>
  refuse(
    'backlog_full',
    `The backlog of ${agent} is full: ${queue_length} ${queue_length === 1 ? 'execution waits' : 'executions wait'}.`,
    {
      retryAfterMs: 5_000,
      details: { queue_length, max_backlog_depth },
    },
  );

export const enqueue: WriteVerb<'enqueue'> = async (tx, args) => {
  const { caller, open_call: call_id, tick } = args;
  if (tick != null) return enqueueTick(tx, { ...args, tick }, () => add(tx, args, null));
  if (caller === null || call_id === null) return add(tx, args, null);
  return orTakeBack(tx, async () => {
    const added = await add(tx, args, null);
    if (isRefusal(added)) return added;
    // Sent again after a lost line: the wait is joined, and the lost line has no say in it any more.
    if (added.replay)
      await leaveToOne(tx, { call_id, child_id: added.execution.id, token: caller.token, now: tx.at.now });
    const opened = await openCall(tx, { call_id, caller, child_ids: [added.execution.id], ...tx.at });
    return isRefusal(opened) ? opened : added;
  });
};

/** Where an item of a batch stands. */
interface InBatch {
  fan_out_id: string;
  fan_out_item: string;
  behind: 0 | 1;
}

export const add = async (tx: Tx, args: EnqueueArgs, batch: InBatch | null): Promise<EnqueueResult> => {
  const { request, idempotency, caller } = args;
  if (idempotency) {
    const before = await seenBefore(tx, idempotency);
    if (isRefusal(before)) return before;
    if (before) return { execution: executionFrom(before), replay: true, queue_position: 0 };
  }
  const agent = await agentOf(tx, args.agent_id, request.kind);
  if (!agent) return refuse('not_found', `No agent ${request.agent_name}.`);
  if (agent.desired_state === 'stopped') return refuse('agent_stopped', `Agent ${agent.name} is stopped.`);
  const parent = await parentOf(tx, args);
  if (isRefusal(parent)) return parent;
  if (!caller) {
    const bound = agent.max_backlog_depth ?? limits.maxBacklogDepth.default;
    const waiting = await backlogFull(tx, agent.id, bound);
    if (waiting !== null) return overBacklog(agent.name, waiting, bound);
  }
  const found = await placeFor(tx, {
    request,
    agent,
    caller: caller && parent,
    fresh_session_id: args.fresh_session_id,
  });
  if (isRefusal(found)) return found;
  const place = batch ? { ...found, behind: batch.behind } : found;

  const { now, steady } = tx.at;
  // Children inherit the class of their root (R10).
  const cls = parent && caller ? parent.class : request.class;
  const row = {
    id: args.id,
    agent_id: agent.id,
    agent_name: agent.name,
    kind: request.kind,
    status: 'queued' as const,
    triggered_by: request.triggered_by,
    class: cls,
    lane: place.behind === 1 ? null : cls,
    durable: request.durable ? (1 as const) : (0 as const),
    depth: parent ? parent.depth + 1 : 0,
    root_id: parent ? parent.root_id : args.id,
    parent_execution_id: parent ? parent.id : null,
    ...place,
    behind_since: place.behind === 1 ? steady : null,
    timeout_s: args.timeout_s,
    max_retries: args.max_retries,
    queued_at: now,
    since_at: now,
    eligible_at: steady,
    queue_budget_ms: args.queue_budget_ms,
    expires_at: args.queue_budget_ms === null ? null : steady + args.queue_budget_ms,
    fan_out_id: batch ? batch.fan_out_id : null,
    fan_out_item: batch ? batch.fan_out_item : null,
  };
  const queue_position = await placeInLine(tx, row);
  await insertExecution(tx, row);
  backlogGrew(tx, agent.id);
  await insertTexts(tx, {
    execution_id: args.id,
    message: request.message,
    options: JSON.stringify(request.options),
  });
  if (idempotency) await remember(tx, idempotency, args.id);
  await tell(tx, {
    type: 'execution.queued',
    execution_id: args.id,
    agent_name: agent.name,
    data: { class: row.class, depth: row.depth, triggered_by: row.triggered_by },
  });
  // Only heads of lanes are candidates: a row behind others makes nothing claimable that was not so before.
  tx.stirred.claimable ||= place.behind === 0 && queue_position === 1;
  return { execution: executionFrom({ ...unborn, ...row }), replay: false, queue_position };
};

/** What a new row has not been yet: the defaults of its table. */
const unborn: Omit<Row, (typeof columns)[number]> = {
  awaited: 0,
  behind_ms: 0,
  waited_ms: 0,
  called_ms: 0,
  not_before: null,
  ripe_at: null,
  token: null,
  attempt_id: null,
  attempt: 0,
  parked: 0,
  runner_id: null,
  credential_id: null,
  started_at: null,
  waiting_since: null,
  completed_at: null,
  silent: 0,
  cancel_requested_at: null,
  cause: null,
  duration_ms: null,
  queued_ms: null,
  cost_usd: null,
  cost_kind: null,
  tool_calls: null,
  turns: null,
  input_tokens: null,
  output_tokens: null,
  context_used: null,
  context_max: null,
  attention: '[]',
};
