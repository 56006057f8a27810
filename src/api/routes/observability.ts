/** What older dashboards ask about metrics: is there something to read, and the totals. The numbers themselves are /metrics. */
import { z } from 'zod';
import type { RouteModule } from '../route.ts';

const tags = ['Fleet'];
const Status = z.object({
  enabled: z.boolean(),
  configured: z.boolean(),
  available: z.boolean(),
  metrics_path: z.string(),
  events_path: z.string(),
});
const Totals = z.object({
  totals: z.object({
    executions: z.number(),
    running: z.number(),
    waiting: z.number(),
    queued: z.number(),
    cost_usd: z.number(),
  }),
  by_status: z.record(z.string(), z.number()),
  by_cause: z.record(z.string(), z.number()),
});

export const observabilityRoutes: RouteModule = (deps) => async (app) => {
  app.get(
    '/api/observability/status',
    { config: { needs: 'view' }, schema: { tags, summary: 'What can be observed', response: { 200: Status } } },
    async () => ({
      enabled: true,
      configured: true,
      available: true,
      metrics_path: '/metrics',
      events_path: '/api/events',
    }),
  );

  app.get(
    '/api/observability/metrics',
    { config: { needs: 'view' }, schema: { tags, summary: 'Totals of what is stored', response: { 200: Totals } } },
    async () => {
      const [stats, { fleet }] = await Promise.all([
        deps.store.read('stats', { since: null }),
        deps.store.read('occupancy', { limits: deps.claimLimits() }),
      ]);
      const executions = Object.values(stats.by_status).reduce((a, b) => a + b, 0);
      const { running, waiting, queued } = fleet;
      return {
        totals: { executions, running, waiting, queued, cost_usd: stats.cost_usd },
        by_status: stats.by_status,
        by_cause: stats.by_cause,
      };
    },
  );
};
