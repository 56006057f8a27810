/**
 * Money (R41): what runs cost, by whom and when, and how much may be spent. Amounts are US dollars. `billed`: a key that is
 * charged per token. `notional`: a subscription, what the tokens would cost at list price. `unknown`: which of the two is not
 * known. Estimated: summed from the stream of a run that was killed before its CLI could say.
 */
import { z } from 'zod';
import type { CostKind } from './execution.ts';

export const costGroups = ['agent', 'model', 'credential', 'tag', 'day', 'month'] as const;
export const CostGroup = z.enum(costGroups);
export type CostGroup = z.infer<typeof CostGroup>;

export const BudgetPeriod = z.enum(['day', 'month']);
export type BudgetPeriod = z.infer<typeof BudgetPeriod>;

export const moneyLimits = {
  /** Runs whose costs tell what the next one may cost: enough that p90 is not simply the dearest. */
  expectedFrom: 20,
  /** Said once on the way, so that a person can act before work waits. */
  warnAt: 0.8,
  maxUsd: 1_000_000,
  /** Cost rows are kept longer than executions: months are compared with months. */
  keepMs: 400 * 86_400_000,
} as const;

/** Attempts of a quarter of an hour that are alike, added up. */
export interface CostSlice {
  /** Start of the quarter of an hour, ms UTC: every zone's days begin at one. */
  from: number;
  agent_name: string;
  credential_name: string | null;
  model: string | null;
  tags: string[];
  cost_kind: CostKind;
  estimated: boolean;
  runs: number;
  /** Of them, those whose cost is not known at all. */
  unpriced: number;
  cost_usd: number;
  input_tokens: number;
  output_tokens: number;
}

export interface BudgetRow {
  /** Null: the whole fleet. */
  agent_name: string | null;
  period: BudgetPeriod;
  limit_usd: number;
  spent_usd: number;
  /** What the runs that are alive may still cost: p90 of the last runs of their agents. */
  reserved_usd: number;
  /** What the next run of this agent may cost; null for the fleet, 0 while nothing is known. */
  expected_usd: number | null;
  period_start: number;
  period_end: number;
}
