/**
 * Spending budgets at the claim: a run starts only when what is spent, what the runs alive may still cost, and what this one may
 * cost fit into each budget over it. What a run may cost is the p90 of its agent's last runs: the dearest tenth may go over, and
 * the next claim then sees it. Pure; budgets are shared objects, so that what is claimed first is reserved for those behind.
 */
import type { World } from './world.ts';

export interface SpendingGate {
  /** Agent id, `''` for the fleet. */
  subject: string;
  period: 'day' | 'month';
  limit_usd: number;
  spent_usd: number;
  reserved_usd: number;
  /** Steady ms at which the period ends. */
  ends_at: number;
}

const over = (w: World, agent_id: string): readonly SpendingGate[] =>
  w.spending.gates.get(agent_id) ?? w.spending.fleet;
const expected = (w: World, agent_id: string): number => w.spending.expected.get(agent_id) ?? 0;

/** Money is compared in whole millionths: sums of costs are not exact in binary. */
const micro = (usd: number): number => Math.round(usd * 1e6);

export const fitsInto = (g: SpendingGate, costs: number): boolean =>
  micro(g.spent_usd) < micro(g.limit_usd) && micro(g.spent_usd + g.reserved_usd + costs) <= micro(g.limit_usd);

/** The budget that holds a run of this agent up. */
export const heldByBudget = (w: World, agent_id: string): SpendingGate | null =>
  over(w, agent_id).find((g) => !fitsInto(g, expected(w, agent_id))) ?? null;

export const reserve = (w: World, agent_id: string): void => {
  for (const g of over(w, agent_id)) g.reserved_usd += expected(w, agent_id);
};

/** The value that at most a tenth of them is above; 0 of none. */
export const p90 = (costs: readonly number[]): number => {
  if (costs.length === 0) return 0;
  const sorted = [...costs].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(0.9 * sorted.length) - 1)]!;
};
