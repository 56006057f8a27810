/** From the executions table to what leaves the store; and the ways to read one row. */
import type { Selectable } from 'kysely';
import type { ExecutionRow, ExecutionTexts } from '../../contract/execution.ts';
import type { Verdict } from '../../contract/verdict.ts';
import type { Executions, Texts } from '../schema.ts';
import { statement } from '../statement.ts';
import type { ReadTx } from '../tx.ts';

export type Row = Selectable<Executions>;

export const executionFrom = (r: Row): ExecutionRow => ({
  id: r.id,
  agent_id: r.agent_id,
  agent_name: r.agent_name,
  kind: r.kind,
  status: r.status,
  triggered_by: r.triggered_by,
  class: r.class,
  durable: r.durable === 1,
  depth: r.depth,
  root_id: r.root_id,
  parent_execution_id: r.parent_execution_id,
  session_id: r.session_id,
  cli_session_id: r.cli_session_id,
  timeout_s: r.timeout_s,
  max_retries: r.max_retries,
  queued_at: r.queued_at,
  not_before: r.not_before,
  started_at: r.started_at,
  completed_at: r.completed_at,
  attempt: r.attempt,
  parked: r.parked,
  runner_id: r.runner_id,
  credential_id: r.credential_id,
  silent: r.silent === 1,
  cancel_requested_at: r.cancel_requested_at,
  cause: r.cause,
  duration_ms: r.duration_ms,
  queued_ms: r.queued_ms,
  cost_usd: r.cost_usd,
  cost_kind: r.cost_kind,
  tool_calls: r.tool_calls,
  turns: r.turns,
  input_tokens: r.input_tokens,
  output_tokens: r.output_tokens,
  context_used: r.context_used,
  context_max: r.context_max,
  attention: r.attention === '[]' ? [] : (JSON.parse(r.attention) as string[]),
});

export const textsFrom = (t: Omit<Selectable<Texts>, 'execution_id' | 'options'>): ExecutionTexts => ({
  message: t.message,
  response: t.response,
  error: t.error,
  verdict: t.verdict === null ? null : (JSON.parse(t.verdict) as Verdict),
  wait_details: t.wait_details === null ? null : (JSON.parse(t.wait_details) as Record<string, number>),
});

const byId = statement<{ id: string }, Row>((db, s) => db.selectFrom('executions').selectAll().where('id', '=', s.id));

export const executionById = async (tx: ReadTx, id: string): Promise<Row | null> =>
  (await byId(tx, { id })).rows[0] ?? null;

/** For a row that must be there: its absence is a broken store. */
export const mustHave = async (tx: ReadTx, id: string): Promise<Row> => {
  const row = await executionById(tx, id);
  if (!row) throw new Error(`execution ${id} is not in the store`);
  return row;
};
