/** The verbs about money: what was spent, and how much may be. A part of the page of verbs in store.ts. */
import type { Refusal } from '../contract/errors.ts';
import type { BudgetPeriod, BudgetRow, CostSlice } from '../contract/money.ts';

export interface MoneyWrites {
  /** Null takes the budget away. What waits for it may go at the next claim. */
  put_budget: [
    { agent_id: string | null; period: BudgetPeriod; limit_usd: number | null; by: string },
    { ok: true } | Refusal,
  ];
}
export interface MoneyReads {
  costs: [{ from: number; to: number }, CostSlice[]];
  budgets: [Record<string, never>, BudgetRow[]];
  /** The zone in which days and months are counted. */
  timezone: [Record<string, never>, string];
}
