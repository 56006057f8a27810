/** What the page reads of money; days are those of the installation's own time zone, as the server cuts them. */
import { useQuery } from '@tanstack/react-query';
import type { CostsBody } from '../../../src/client/wire.ts';
import type { CostGroup } from '../../../src/contract/money.ts';
import { api } from '../api.ts';
import { now } from '../clock.ts';
import { keys } from '../live/keys.ts';

export type CostLine = CostsBody['costs'][number];

const dayMs = 86_400_000;
export const spans = [
  [7, '7 days'],
  [30, '30 days'],
  [90, '90 days'],
] as const;
/** Whole UTC hours: the same question for an hour, so that its answer is kept. */
export const since = (days: number): string =>
  new Date(Math.floor(now() / 3_600_000) * 3_600_000 - days * dayMs).toISOString();

export const useCosts = (by: CostGroup, days: number) =>
  useQuery({
    queryKey: [...keys.costs, by, `${days}`],
    queryFn: () => api.costs({ group_by: by, from: since(days) }),
  });
export const useBudgets = () => useQuery({ queryKey: keys.budgets, queryFn: () => api.budgets() });
export const useMorning = () => useQuery({ queryKey: keys.morning, queryFn: () => api.morning(null) });

/** One bar per day, also where nothing ran: `2026-11-30` to the last day, in order. */
export const everyDay = (lines: readonly CostLine[], days: number): CostLine[] => {
  const known = new Map(lines.map((l) => [l.day ?? '', l]));
  const last = [...known.keys()].sort().at(-1);
  if (last === undefined) return [];
  return Array.from({ length: days }, (_, back) => {
    const day = new Date(Date.parse(`${last}T00:00:00Z`) - (days - 1 - back) * dayMs).toISOString().slice(0, 10);
    return known.get(day) ?? { ...none, day };
  });
};
const none: Omit<CostLine, 'day'> = {
  runs: 0,
  unpriced_runs: 0,
  cost_usd: 0,
  cost_kind: 'billed',
  billed_usd: 0,
  notional_usd: 0,
  unknown_usd: 0,
  estimated_usd: 0,
  input_tokens: 0,
  output_tokens: 0,
};
