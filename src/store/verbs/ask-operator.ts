/**
 * An agent asks a person. The asker is checked in the transaction that stores the question: an execution by the token of its live
 * attempt, an agent's key by whose execution it names. The same question of the same session, while it waits, is the same item.
 */
import { type Refusal, refuse } from '../../contract/errors.ts';
import { itemLimits } from '../../contract/operator.ts';
import type { AskOperatorArgs } from '../operator-verbs.ts';
import type { Tx, WriteVerb } from '../tx.ts';
import { executionById, type Row } from './execution-row.ts';
import { liveItems, operatorItemFrom } from './operator-row.ts';
import { raise } from './raise-item.ts';

export const askOperator: WriteVerb<'ask_operator'> = async (tx, args) => {
  const { agent, options } = args;
  const asker = await askerOf(tx, args);
  if (asker !== null && 'refused' in asker) return asker;
  const session_id = asker?.session_id ?? null;
  const item = { ...args.item, dedup_key: `${session_id ?? 'main'}:${args.item.dedup_key}` };
  const live = await liveItems(tx, agent.name);
  const waiting = live.filter((i) => i.kind !== 'alert');
  const known = waiting.some((w) => w.dedup_key === item.dedup_key);
  const open = live.filter((i) => i.status === 'open').length;
  if (!known && (waiting.length >= itemLimits.questionsPerAgent || open >= itemLimits.openPerAgent - 1))
    return refuse(
      'inbox_full',
      `${agent.name} has ${waiting.length} questions that wait for a person, and ${open} open items. Nobody would see another one.`,
      { retryAfterMs: 60_000 },
    );
  const row = await raise(
    tx,
    item,
    { agent_name: agent.name, execution_id: args.execution_id },
    { session_id, options: options.length === 0 ? null : JSON.stringify(options) },
  );
  return { item: operatorItemFrom(row), created: !known };
};

const askerOf = async (tx: Tx, args: AskOperatorArgs): Promise<Row | null | Refusal> => {
  if (args.execution_id === null) return null;
  const row = await executionById(tx, args.execution_id);
  if (args.token !== null && (row?.token !== args.token || row.cancel_requested_at !== null))
    return refuse('caller_ended', 'The execution that asks has ended, was cancelled, or runs as another attempt.');
  if (!row || row.agent_id !== args.agent.id)
    return refuse('not_found', `${args.agent.name} has no execution ${args.execution_id}.`);
  return row;
};
