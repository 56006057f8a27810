/** A batch as its body on the wire: its state is what the states of its executions add up to, and partial results are all there. */
import type { ExecutionStatus } from '../../contract/execution.ts';
import { isTerminal } from '../../contract/status.ts';
import type { ReadVerbs } from '../../store/store.ts';
import { iso } from '../route.ts';

type FanOut = NonNullable<ReadVerbs['fan_out'][1]>;

/** Answers in a batch share this many characters; the whole of each is under its execution's id. */
const textChars = 400_000;
const leastChars = 2_000;

const fanOutStatus = (statuses: readonly ExecutionStatus[]): 'running' | 'completed' | 'partial' | 'failed' => {
  if (!statuses.every(isTerminal)) return 'running';
  const good = statuses.filter((s) => s === 'success').length;
  if (good === statuses.length) return 'completed';
  return good === 0 ? 'failed' : 'partial';
};

export const presentFanOut = ({ fan_out, items }: FanOut) => {
  const chars = Math.max(leastChars, Math.floor(textChars / Math.max(1, items.length)));
  const cut = (text: string | null) =>
    text === null || text.length <= chars ? text : `${text.slice(0, chars - 1).toWellFormed()}…`;
  const counts: Partial<Record<ExecutionStatus, number>> = {};
  for (const { execution } of items) counts[execution.status] = (counts[execution.status] ?? 0) + 1;
  const costs = items.map((i) => i.execution.cost_usd).filter((c) => c !== null);
  return {
    fan_out_id: fan_out.id,
    agent_name: fan_out.agent_name,
    status: fanOutStatus(items.map((i) => i.execution.status)),
    max_concurrency: fan_out.max_concurrency,
    total: fan_out.tasks,
    counts,
    created_at: iso(fan_out.created_at),
    cost: costs.length === 0 ? null : costs.reduce((a, b) => a + b, 0),
    tasks: items.map(({ item, execution: e }) => ({
      id: item,
      execution_id: e.id,
      status: e.status,
      cause: e.cause,
      response: cut(e.response),
      error: cut(e.error),
      cost: e.cost_usd,
      duration_ms: e.duration_ms,
    })),
  };
};
