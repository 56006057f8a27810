import { expect, it } from 'vitest';
import { morningText } from './morning-text.ts';

const night = (cost: { total_usd: number; unpriced_runs: number }): string =>
  morningText({
    day: '2026-12-01',
    timezone: 'UTC',
    from: '2026-11-30T18:00:00.000Z',
    to: '2026-12-01T06:00:00.000Z',
    happened: {
      ended: 2,
      good: 2,
      failed: 0,
      cancelled: 0,
      running: 0,
      queued: 0,
      by_cause: [],
      by_agent: [],
      incidents: [],
    },
    saved: { retried: 0, resumed: 0, switched: 0, parked: 0 },
    needs_you: [],
    cost: {
      billed_usd: cost.total_usd,
      notional_usd: 0,
      unknown_usd: 0,
      estimated_usd: 0,
      wasted_usd: 0,
      by_agent: [],
      ...cost,
    },
  });

it('does not call a night free that told no cost', () => {
  expect(night({ total_usd: 0, unpriced_runs: 0 })).toContain('$0.00 billed');
  const untold = night({ total_usd: 0, unpriced_runs: 2 });
  expect(untold).not.toContain('$0.00');
  expect(untold).toContain('Of 2 runs no cost is known.');
  expect(night({ total_usd: 1.5, unpriced_runs: 1 })).toMatch(/\$1\.50: .*\n.*Of 1 run no cost is known/);
});
