/**
 * Record: facts, verdict and decision of an attempt, by compare-and-set on attempt, token and state. A result is never refused:
 * it counts with the newest token while the row has not ended (running, waiting, or queued again and not yet claimed); after
 * that it is kept as a late outcome, billed and shown, and the state stays (F8). The same facts again change nothing.
 */
import { isTerminal } from '../../contract/status.ts';
import type { Decision } from '../../contract/verdict.ts';
import { statement } from '../statement.ts';
import type { SettleArgs } from '../store.ts';
import type { Tx, WriteVerb } from '../tx.ts';
import { inputTokens, recordCost } from './cost-rows.ts';
import { showed } from './credential-evidence.ts';
import { type Ending, end, sayError } from './end.ts';
import { tell } from './events.ts';
import { executionById, executionFrom, mustHave, type Row } from './execution-row.ts';
import { stillSo } from './login-view.ts';
import { durationMs } from './measured.ts';
import { requeue } from './requeue.ts';
import { sessionUsed } from './session-used.ts';
import { tellOperator } from './settle-items.ts';
import { byWeather } from './settle-weather.ts';
import { takeResumes } from './take-resumes.ts';

interface Attempt {
  id: string;
  execution_id: string;
  number: number;
  token: string;
  credential_id: string | null;
  claimed_at: number;
  claimed_steady: number;
  ended_at: number | null;
}
const attemptById = statement<{ id: string }, Attempt>((db, s) =>
  db
    .selectFrom('attempts')
    .select(['id', 'execution_id', 'number', 'token', 'credential_id', 'claimed_at', 'claimed_steady', 'ended_at'])
    .where('id', '=', s.id),
);
const factsOf = statement<{ id: string }, { stored_at: number }>((db, s) =>
  db.selectFrom('attempt_facts').select('stored_at').where('attempt_id', '=', s.id),
);

export const settle: WriteVerb<'settle'> = async (tx, given) => {
  const attempt = (await attemptById(tx, { id: given.attempt_id })).rows[0];
  const row = attempt?.token === given.token ? await executionById(tx, attempt.execution_id) : null;
  if (!attempt || !row) return { result: 'lost', execution: null };
  if ((await factsOf(tx, { id: attempt.id })).rows.length > 0)
    return { result: 'replayed', execution: executionFrom(row) };
  const late = isTerminal(row.status) || attempt.number !== row.attempt;
  if (!late && given.seen !== null && !(await stillSo(tx, attempt.id, given.seen)))
    return { result: 'moved', execution: null };
  const args = late ? given : await byWeather(tx, row, attempt, given);
  await keepOutcome(tx, attempt, args, late);
  await recordCost(tx, row, attempt, args);
  await sessionUsed(tx, row, args.facts, args.cost_usd);
  await evidence(tx, row, attempt, args);
  if (late) await keepLate(tx, row, attempt, args);
  await tellOperator(tx, row, attempt.claimed_at, args, late ? null : await follow(tx, row, attempt, args));
  await takeResumes(tx);
  return { result: late ? 'late' : 'settled', execution: executionFrom(await mustHave(tx, row.id)) };
};

const keepOutcome = async (tx: Tx, attempt: Attempt, args: SettleArgs, late: boolean): Promise<void> => {
  await tx.db
    .insertInto('attempt_facts')
    .values({ attempt_id: attempt.id, facts: JSON.stringify(args.facts), stored_at: tx.at.now })
    .execute();
  await tx.db
    .updateTable('attempts')
    .set((eb) => ({
      verdict: JSON.stringify(args.verdict),
      decision: JSON.stringify(args.decision),
      cost_usd: args.cost_usd,
      cost_kind: args.cost_kind,
      late: late ? 1 : 0,
      ended_at: attempt.ended_at ?? tx.at.now,
      started_at: eb.fn.coalesce('started_at', eb.val(args.facts.spawned_at)),
    }))
    .where('id', '=', attempt.id)
    .execute();
};

const evidence = async (tx: Tx, row: Row, attempt: Attempt, args: SettleArgs): Promise<void> => {
  if (attempt.credential_id === null || args.login === null) return;
  const { agent_id, agent_name, id: execution_id } = row;
  const shown = {
    credential_id: attempt.credential_id,
    agent_id,
    agent_name,
    execution_id,
    cause: args.verdict.cause,
    claimed_at: attempt.claimed_at,
    at: Math.min(tx.at.now, args.facts.ended_at ?? tx.at.now),
  };
  await showed(tx, shown, args.login);
};

/** Costs add up over the attempts; a kind that is not the same for all is not known. */
const costs = (row: Row, args: SettleArgs): Pick<Row, 'cost_usd' | 'cost_kind'> => {
  if (args.cost_usd === null) return { cost_usd: row.cost_usd, cost_kind: row.cost_kind };
  const kind = row.cost_kind === null || row.cost_kind === args.cost_kind ? args.cost_kind : 'unknown';
  return { cost_usd: (row.cost_usd ?? 0) + args.cost_usd, cost_kind: kind };
};

const keepLate = async (tx: Tx, row: Row, attempt: Attempt, args: SettleArgs): Promise<void> => {
  await tx.db.updateTable('executions').set(costs(row, args)).where('id', '=', row.id).execute();
  await tell(tx, {
    type: 'execution.late_outcome',
    execution_id: row.id,
    agent_name: row.agent_name,
    data: { attempt: attempt.number, cause: args.verdict.cause },
  });
};

/** A cancelled row is never queued again (F10), whatever the policy says. */
const decided = (row: Row, d: Decision): Decision =>
  d.kind !== 'end' && row.cancel_requested_at !== null ? { kind: 'end', status: 'cancelled' } : d;

/** What it ended as; null = it is queued again. */
const follow = async (tx: Tx, row: Row, attempt: Attempt, args: SettleArgs): Promise<Ending['status'] | null> => {
  const { facts, verdict } = args;
  const { stream } = facts;
  const decision = decided(row, args.decision);
  const more: Partial<Row> = { ...costs(row, args), cli_session_id: stream.session_id ?? row.cli_session_id };
  if (decision.kind !== 'end') {
    if (decision.kind === 'switch') await noteSwitch(tx, row, attempt, { ...decision, cause: verdict.cause });
    const parked = row.parked + (decision.kind === 'park' ? 1 : 0);
    await again(tx, row, decision, { ...more, parked });
    return null;
  }
  const status = verdict.cause === 'cancelled' ? 'cancelled' : decision.status;
  const cause = status === 'cancelled' ? 'cancelled' : verdict.cause;
  await tx.db
    .updateTable('execution_texts')
    .set({
      response: stream.response,
      error: status === 'success' || verdict.message === '' ? null : verdict.message,
      verdict: JSON.stringify(verdict),
    })
    .where('execution_id', '=', row.id)
    .execute();
  await end(tx, row, {
    status,
    cause,
    more: {
      ...more,
      started_at: facts.spawned_at ?? row.started_at,
      duration_ms: durationMs(facts),
      tool_calls: stream.tool_calls,
      turns: stream.turns,
      input_tokens: stream.usage ? inputTokens(stream.usage) : null,
      output_tokens: stream.usage?.output_tokens ?? null,
      context_used: stream.context_used,
      context_max: stream.context_max,
      attention: JSON.stringify([...new Set([...(JSON.parse(row.attention) as string[]), ...verdict.attention])]),
    },
    data: { attempt: row.attempt },
  });
  return status;
};

/** Queued again: in its lane at once, or after a time. It goes on with the credential it had, or with the one it moves to. */
const again = async (
  tx: Tx,
  row: Row,
  decision: Exclude<Decision, { kind: 'end' }>,
  more: Partial<Row>,
): Promise<void> => {
  const { why } = decision;
  const wanted = decision.kind === 'switch' ? decision.to : row.credential_id;
  // Parked for a login it stands in its lane, where any login that comes good before the reset wakes it.
  const afterMs =
    decision.kind === 'retry'
      ? decision.after_ms
      : decision.kind === 'park' && decision.for !== 'login'
        ? Math.max(0, decision.until - tx.at.now)
        : 0;
  await requeue(tx, row, { afterMs, why, more: { ...more, credential_id: wanted } });
  if (decision.kind === 'park') await sayError(tx, row.id, why);
};

/** The first failure of an agent on a credential moves it; those that follow on the same one go where it went. */
const noteSwitch = async (
  tx: Tx,
  row: Row,
  { claimed_at }: Attempt,
  { from, to, cause }: { from: string; to: string; cause: string },
): Promise<void> => {
  const before = tx.db
    .selectFrom('credential_switches')
    .select('id')
    .where('agent_id', '=', row.agent_id)
    .where('from_id', '=', from)
    .where('to_id', '=', to)
    .where('at', '>=', claimed_at);
  if (await before.executeTakeFirst()) return;
  const { agent_id, agent_name, id: execution_id } = row;
  await tx.db
    .insertInto('credential_switches')
    .values({ at: tx.at.now, agent_id, agent_name, execution_id, from_id: from, to_id: to, cause })
    .execute();
  await tell(tx, { type: 'credential.switched', execution_id, agent_name, data: { from, to, cause } });
};
