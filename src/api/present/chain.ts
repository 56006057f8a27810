/** A chain of calls as its body on the wire: every execution of the tree, who waits for whom now, and what it all costs. */
import { isTerminal } from '../../contract/status.ts';
import type { ReadVerbs } from '../../store/store.ts';
import { iso, isoOrNull } from '../route.ts';

type Chain = NonNullable<ReadVerbs['chain'][1]>;

export const presentChain = (id: string, { executions, waits, more }: Chain) => {
  const costs = executions.map((e) => e.cost_usd).filter((c) => c !== null);
  const kinds = new Set(executions.map((e) => e.cost_kind).filter((k) => k !== null));
  const self = executions.find((e) => e.id === id);
  const parents: string[] = [];
  for (let at = self?.parent_execution_id ?? null; at !== null; ) {
    const parent = executions.find((e) => e.id === at);
    if (parent === undefined) break;
    parents.unshift(parent.id);
    at = parent.parent_execution_id;
  }
  return {
    execution_id: id,
    root_id: executions[0]!.id,
    /** From the root down to the one that called this one. */
    parents,
    children: executions.filter((e) => e.parent_execution_id === id).map((e) => e.id),
    executions: executions.map((e) => ({
      id: e.id,
      agent_name: e.agent_name,
      status: e.status,
      cause: e.cause,
      kind: e.kind,
      depth: e.depth,
      parent_execution_id: e.parent_execution_id,
      queued_at: iso(e.queued_at),
      started_at: isoOrNull(e.started_at),
      completed_at: isoOrNull(e.completed_at),
      duration_ms: e.duration_ms,
      cost: e.cost_usd,
      waits_for: waits.filter((w) => w.execution_id === e.id).map((w) => w.child_id),
    })),
    waits: waits.map((w) => ({ execution_id: w.execution_id, child_id: w.child_id, since: iso(w.since) })),
    open: executions.filter((e) => !isTerminal(e.status)).length,
    cost: costs.length === 0 ? null : costs.reduce((a, b) => a + b, 0),
    cost_kind: kinds.size === 1 ? [...kinds][0]! : kinds.size === 0 ? null : ('unknown' as const),
    /** There are more executions than one answer shows. */
    more,
  };
};
