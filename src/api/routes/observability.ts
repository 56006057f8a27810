/** What older dashboards ask about metrics: is there something to read, and the totals. The numbers themselves are /metrics. */
import { z } from 'zod';
import { type CostLine, costLines } from '../../record/costs.ts';
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
    total_cost: z.number(),
    total_tokens: z.number(),
  }),
  enabled: z.boolean(),
  available: z.boolean(),
  /** By model, since the oldest row that is kept; what Drover does not measure is null. */
  metrics: z.object({
    cost_by_model: z.record(z.string(), z.number()),
    tokens_by_model: z.record(z.string(), z.object({ input: z.number(), output: z.number() })),
    sessions: z.null(),
    lines_of_code: z.null(),
    commits: z.null(),
    pull_requests: z.null(),
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
      const [stats, { fleet }, slices, zone] = await Promise.all([
        deps.store.read('stats', { since: null }),
        deps.store.read('occupancy', { limits: deps.claimLimits() }),
        deps.store.read('costs', { from: 0, to: deps.kernel.clock.now() }),
        deps.store.read('timezone', {}),
      ]);
      const models = costLines(slices, ['model'], zone);
      const byModel = <T>(of: (line: CostLine) => T) =>
        Object.fromEntries(models.map((line) => [line.key.model ?? 'unknown', of(line)]));
      const executions = Object.values(stats.by_status).reduce((a, b) => a + b, 0);
      const { running, waiting, queued } = fleet;
      return {
        enabled: true,
        available: true,
        totals: {
          executions,
          running,
          waiting,
          queued,
          cost_usd: stats.cost_usd,
          total_cost: stats.cost_usd,
          total_tokens: models.reduce((sum, m) => sum + m.input_tokens + m.output_tokens, 0),
        },
        metrics: {
          cost_by_model: byModel((m) => m.cost_usd),
          tokens_by_model: byModel((m) => ({ input: m.input_tokens, output: m.output_tokens })),
          sessions: null,
          lines_of_code: null,
          commits: null,
          pull_requests: null,
        },
        by_status: stats.by_status,
        by_cause: stats.by_cause,
      };
    },
  );
};
