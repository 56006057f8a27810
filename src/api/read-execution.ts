/**
 * Reading executions for an answer: the row as the principal may see it (else the uniform 404), and the body with what
 * stands around it: why it waits, its attempts, what runs inside it. Reads only.
 */
import { maySee } from '../admission/visible.ts';
import type { AgentRow } from '../contract/agent.ts';
import type { ExecutionRow, WaitInfo } from '../contract/execution.ts';
import type { Principal } from '../contract/principal.ts';
import type { Deps } from '../flow/deps.ts';
import type { ListExecutions, SearchExecutions } from '../store/history-verbs.ts';
import {
  type AttemptBody,
  type ExecutionBody,
  type FullExecution,
  presentAttempt,
  presentExecution,
} from './present/execution.ts';
import { readTools } from './read-log.ts';
import { findAgent, orNotFound, who } from './route.ts';

/** `agent`: the one of the path; an execution of another agent, or of an earlier one of that name, is not found there. */
export const findExecution = async (
  deps: Deps,
  id: string,
  principal: Principal,
  agent: AgentRow | null = null,
): Promise<FullExecution> => {
  const row = await deps.store.read('execution', { id });
  if (row === null || (agent !== null && row.agent_id !== agent.id))
    return orNotFound<FullExecution>(null, 'execution');
  if (agent === null && principal.kind !== 'user') {
    const own = await deps.store.read('agent_by_name', { name: row.agent_name });
    if (own === null || own.id !== row.agent_id || !(await maySee(deps.store, own, principal)))
      return orNotFound<FullExecution>(null, 'execution');
  }
  return row;
};

export interface Asked {
  principal: Principal | null;
  params: { id: string; name?: string };
}

/** The execution a path names, below an agent's path or not. */
export const findAsked = async (deps: Deps, { principal, params: { id, name } }: Asked): Promise<FullExecution> => {
  const agent = name === undefined ? null : await findAgent(deps, { principal, params: { name } });
  return findExecution(deps, id, who({ principal }), agent);
};

export const waitsOf = async (deps: Deps, rows: readonly ExecutionRow[]): Promise<Record<string, WaitInfo>> => {
  const queued = rows.filter((r) => r.status === 'queued').map((r) => r.id);
  if (queued.length === 0) return {};
  return deps.store.read('waits', { execution_ids: queued, limits: deps.claimLimits() });
};

/** Texts in lists are cut: 200 messages of 1 MB would be an answer of 200 MB. The whole text is under the id. */
export const listedChars = 2_000;

/** Part of a message or an id: one stretch of the history, and where the next one begins. */
export const searchExecutions = async (
  deps: Deps,
  query: Omit<SearchExecutions, 'text_chars'>,
): Promise<{ executions: ExecutionBody[]; next: string | null }> => {
  const { rows, next } = await deps.store.read('search_executions', { ...query, text_chars: listedChars });
  const waits = await waitsOf(deps, rows);
  return { executions: rows.map((row) => presentExecution(cutTexts(row), { wait: waits[row.id] ?? null })), next };
};

export const listExecutions = async (
  deps: Deps,
  query: ListExecutions,
  oldStatus = false,
): Promise<ExecutionBody[]> => {
  const rows = await deps.store.read('executions_with_texts', { ...query, text_chars: listedChars });
  const waits = await waitsOf(deps, rows);
  return rows.map((row) => presentExecution(cutTexts(row), { wait: waits[row.id] ?? null, oldStatus }));
};

export const cutTexts = (row: FullExecution): FullExecution => ({
  ...row,
  message: cut(row.message),
  response: row.response === null ? null : cut(row.response),
});

const cut = (text: string): string =>
  text.length <= listedChars ? text : `${text.slice(0, listedChars - 1).toWellFormed()}…`;

export const readAttempts = async (deps: Deps, executionId: string): Promise<AttemptBody[]> => {
  const attempts = await deps.store.read('attempts', { execution_id: executionId });
  return Promise.all(
    attempts.map(async (a) =>
      presentAttempt(a, a.ended_at === null ? null : await deps.store.read('facts', { attempt_id: a.id })),
    ),
  );
};

export const readBody = async (deps: Deps, row: FullExecution, oldStatus = false): Promise<ExecutionBody> => {
  const [waits, attempts, tools, tick] = await Promise.all([
    waitsOf(deps, [row]),
    readAttempts(deps, row.id),
    row.status === 'running' || row.status === 'waiting' ? readTools(deps, row.id) : [],
    row.triggered_by === 'schedule' || row.triggered_by === 'manual'
      ? deps.store.read('tick_of', { execution_id: row.id })
      : null,
  ]);
  const active = tools.findLast((t) => t.success === null);
  return presentExecution(row, {
    wait: waits[row.id] ?? null,
    attempts,
    activeTool: active?.tool ?? null,
    tick,
    oldStatus,
  });
};
