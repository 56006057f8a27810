/**
 * How full the windows of a plan are, as the CLI was told by the provider (`rate_limit_event`, on healthy runs too). Null = it said
 * nothing of them. Pure.
 */
import type { StreamFacts } from '../contract/facts.ts';
import { plausibleReset } from './reset-times.ts';

interface PlanWindow {
  window: string;
  /** 0 to 1; null = not told. */
  utilization: number | null;
  resets_at: number | null;
}

const number = (v: unknown): number | null => (typeof v === 'number' && Number.isFinite(v) ? v : null);
const record = (v: unknown): Record<string, unknown> =>
  typeof v === 'object' && v !== null && !Array.isArray(v) ? (v as Record<string, unknown>) : {};

const windowOf = (window: string, told: Record<string, unknown>, at: number | null): PlanWindow => {
  const seconds = number(told.resetsAt ?? told.resets_at);
  const rejected = told.status === 'rejected';
  return {
    window,
    utilization: number(told.utilization) ?? (rejected ? 1 : null),
    resets_at: seconds === null ? null : plausibleReset(seconds * 1000, at),
  };
};

export const planWindows = (stream: StreamFacts): PlanWindow[] | null => {
  const newest = stream.signals
    .filter((s) => s.kind === 'rate_limit_event' || s.kind === 'rate_limit_rejected')
    .sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
    .at(-1);
  const at = newest?.at ?? null;
  const info = record(newest?.data.rate_limit_info);
  const all = Object.entries(record(info.unifiedWindows)).map(([name, told]) => windowOf(name, record(told), at));
  const own = typeof info.rateLimitType === 'string' ? info.rateLimitType : null;
  if (own !== null && !all.some((w) => w.window === own)) all.push(windowOf(own, info, at));
  return all.length === 0 ? null : all;
};
