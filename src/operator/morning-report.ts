/** Makes the morning report from rows: of a night that began at the last 18:00 of the installation's zone, or since any time. */
import { type Cause, causes } from '../contract/causes.ts';
import { clockTime, type MorningReport, morningLimits } from '../contract/morning.ts';
import type { Deps } from '../flow/deps.ts';
import { dayOf, msOf, startOf } from '../kernel/zone.ts';
import { costLines, costTotal } from '../record/costs.ts';
import { morningText } from './morning-text.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

/** ms UTC of this local time on the local day of `ms`. */
export const atOn = (zone: string, ms: number, time: string): number => {
  const { hour, minute } = clockTime(time)!;
  const [year, month, day] = dayOf(zone, ms).split('-').map(Number);
  return msOf(zone, year!, month!, day!, hour, minute);
};

/** The last 18:00. */
const nightBefore = (zone: string, now: number): number => {
  const today = atOn(zone, now, morningLimits.nightFrom);
  return today <= now ? today : atOn(zone, startOf(zone, 'day', now) - 3_600_000, morningLimits.nightFrom);
};

/** `since` null: the last night. */
export const makeMorningReport = async (
  deps: Pick<Deps, 'store' | 'kernel' | 'claimLimits'>,
  since: number | null,
): Promise<MorningReport> => {
  const { store } = deps;
  const now = deps.kernel.clock.now();
  const timezone = await store.read('timezone', {});
  const from = since ?? nightBefore(timezone, now);
  const span = { from, to: now + 1 };
  const [night, slices, incidents, items, occupancy] = await Promise.all([
    store.read('night', span),
    store.read('costs', span),
    store.read('incidents', { limit: 100 }),
    store.read('operator_items', { status: 'pending', limit: morningLimits.shownItems }),
    store.read('occupancy', { limits: deps.claimLimits() }),
  ]);
  const count = (pick: (e: (typeof night.ended)[number]) => number): number =>
    night.ended.reduce((sum, e) => sum + pick(e), 0);
  const of = (status: string) => count((e) => (e.status === status ? e.n : 0));
  const byCause = new Map<Cause, number>();
  const byAgent = new Map<string, MorningReport['happened']['by_agent'][number]>();
  for (const e of night.ended) {
    const agent = byAgent.get(e.agent_name) ?? { agent_name: e.agent_name, good: 0, failed: 0, cancelled: 0 };
    byAgent.set(e.agent_name, agent);
    if (e.status === 'success') agent.good += e.n;
    if (e.status === 'failed') agent.failed += e.n;
    if (e.status === 'cancelled') agent.cancelled += e.n;
    if (e.status === 'failed' && e.cause !== null) byCause.set(e.cause, (byCause.get(e.cause) ?? 0) + e.n);
  }
  const total = costTotal(slices, timezone);
  const urgency = { high: 0, normal: 1, low: 2 } as const;
  const report = {
    day: dayOf(timezone, now),
    timezone,
    from: iso(from),
    to: iso(now),
    happened: {
      ended: of('success') + of('failed') + of('cancelled'),
      good: of('success'),
      failed: of('failed'),
      cancelled: of('cancelled'),
      running: occupancy.fleet.running + occupancy.fleet.waiting,
      queued: occupancy.fleet.queued,
      by_cause: [...byCause]
        .map(([cause, n]) => ({ cause, title: causes[cause].title, count: n }))
        .sort((a, b) => b.count - a.count || (a.cause < b.cause ? -1 : 1)),
      by_agent: [...byAgent.values()].sort((a, b) => b.good + b.failed - a.good - a.failed),
      incidents: incidents
        .filter((i) => i.closed_at === null || i.closed_at >= from)
        .map((i) => ({
          id: i.id,
          provider: i.provider,
          cause: i.cause,
          opened_at: iso(i.opened_at),
          closed_at: i.closed_at === null ? null : iso(i.closed_at),
          failures: i.failures,
          agents: i.agents,
        })),
    },
    saved: {
      retried: count((e) => e.retried),
      resumed: count((e) => e.resumed),
      parked: count((e) => e.parked),
      switched: night.switched,
    },
    needs_you: items
      .map((i) => ({
        id: i.id,
        kind: i.kind,
        severity: i.priority,
        agent_name: i.agent_name,
        title: i.title,
        count: i.count,
      }))
      .sort((a, b) => urgency[a.severity] - urgency[b.severity]),
    cost: {
      total_usd: total.cost_usd,
      billed_usd: total.billed_usd,
      notional_usd: total.notional_usd,
      unknown_usd: total.unknown_usd,
      estimated_usd: total.estimated_usd,
      wasted_usd: Math.max(0, Math.round((night.cost_usd - night.good_cost_usd) * 1e9) / 1e9),
      unpriced_runs: total.unpriced_runs,
      by_agent: costLines(slices, ['agent'], timezone).map((l) => ({
        agent_name: l.key.agent ?? '',
        cost_usd: l.cost_usd,
      })),
    },
  };
  return { ...report, text: morningText(report) };
};
