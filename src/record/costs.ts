/**
 * Slices of cost → the table that was asked for: grouped, with the days and months of the installation's zone, each group with
 * its kinds apart, because what a subscription would have cost is not money that was paid. A run with several tags counts under
 * each of them. Pure.
 */
import type { CostKind } from '../contract/execution.ts';
import type { CostGroup, CostSlice } from '../contract/money.ts';
import { dayOf, monthOf } from '../kernel/zone.ts';
import { csvLine } from './csv.ts';

export interface CostLine {
  /** One value per group that was asked for; null = none (no credential, no tag, model not told). */
  key: Partial<Record<CostGroup, string | null>>;
  runs: number;
  /** Runs of which no cost is known. */
  unpriced_runs: number;
  cost_usd: number;
  billed_usd: number;
  notional_usd: number;
  unknown_usd: number;
  /** Part of cost_usd that was summed from streams of killed runs. */
  estimated_usd: number;
  /** The one kind of all of it, else `unknown`. */
  cost_kind: CostKind;
  input_tokens: number;
  output_tokens: number;
}

const empty = (key: CostLine['key']): CostLine => ({
  key,
  runs: 0,
  unpriced_runs: 0,
  cost_usd: 0,
  billed_usd: 0,
  notional_usd: 0,
  unknown_usd: 0,
  estimated_usd: 0,
  cost_kind: 'unknown',
  input_tokens: 0,
  output_tokens: 0,
});

const valuesOf = (s: CostSlice, group: CostGroup, zone: string): (string | null)[] => {
  switch (group) {
    case 'agent':
      return [s.agent_name];
    case 'model':
      return [s.model];
    case 'credential':
      return [s.credential_name];
    case 'tag':
      return s.tags.length === 0 ? [null] : s.tags;
    case 'day':
      return [dayOf(zone, s.from)];
    case 'month':
      return [monthOf(zone, s.from)];
    default:
      return group satisfies never;
  }
};

/** Sums of cents are shown exact to a billionth: binary leaves dust. */
const clean = (usd: number): number => Math.round(usd * 1e9) / 1e9;

const add = (line: CostLine, s: CostSlice): void => {
  line.runs += s.runs;
  line.unpriced_runs += s.unpriced;
  line.cost_usd = clean(line.cost_usd + s.cost_usd);
  line[`${s.cost_kind}_usd`] = clean(line[`${s.cost_kind}_usd`] + s.cost_usd);
  if (s.estimated) line.estimated_usd = clean(line.estimated_usd + s.cost_usd);
  line.input_tokens += s.input_tokens;
  line.output_tokens += s.output_tokens;
  const kinds = (['billed', 'notional', 'unknown'] as const).filter((k) => line[`${k}_usd`] > 0);
  line.cost_kind = kinds.length === 1 ? kinds[0]! : 'unknown';
};

export const costLines = (slices: readonly CostSlice[], groups: readonly CostGroup[], zone: string): CostLine[] => {
  const lines = new Map<string, CostLine>();
  for (const s of slices) {
    let keys: CostLine['key'][] = [{}];
    for (const group of groups)
      keys = keys.flatMap((key) => valuesOf(s, group, zone).map((value) => ({ ...key, [group]: value })));
    for (const key of keys) {
      const name = JSON.stringify(groups.map((g) => key[g]));
      const line = lines.get(name) ?? empty(key);
      lines.set(name, line);
      add(line, s);
    }
  }
  const byTime = groups.filter((g) => g === 'day' || g === 'month');
  return [...lines.values()].sort(
    (a, b) =>
      byTime.reduce((order, g) => order || (b.key[g]! < a.key[g]! ? -1 : b.key[g]! > a.key[g]! ? 1 : 0), 0) ||
      b.cost_usd - a.cost_usd,
  );
};

export const costTotal = (slices: readonly CostSlice[], zone: string): CostLine =>
  costLines(slices, [], zone)[0] ?? empty({});

const figures = [
  'runs',
  'unpriced_runs',
  'cost_usd',
  'cost_kind',
  'billed_usd',
  'notional_usd',
  'unknown_usd',
  'estimated_usd',
  'input_tokens',
  'output_tokens',
] as const;

export const costCsv = (lines: readonly CostLine[], groups: readonly CostGroup[]): string =>
  [
    csvLine([...groups, ...figures]),
    ...lines.map((l) => csvLine([...groups.map((g) => l.key[g] ?? null), ...figures.map((f) => l[f])])),
  ].join('');
