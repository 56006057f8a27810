/**
 * `/metrics` for Prometheus. Everything about work is read from rows at the scrape: a counter in memory would drift from them
 * with each restart. Open like /health, since scrapers rarely carry a key: so it holds numbers and causes, never a name.
 */
import { isConnected } from '../present/runner.ts';
import type { RouteModule } from '../route.ts';

/** Two scrapers, or one that is eager, cost one read. */
const keptMs = 5_000;

/** Loaded at the first scrape: many installations never see one. */
const makeGauges = async () => {
  const { Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name: `drover_${name}`, help, labelNames, registers: [registry] });
  return {
    registry,
    executions: gauge('executions', 'Executions that have not ended, by state, counted from rows.', 'state'),
    ended: gauge('executions_ended', 'Stored executions by how they ended.', 'cause'),
    waiting: gauge('executions_waiting', 'Queued executions by the reason that binds them.', 'reason'),
    oldest: gauge('queue_oldest_wait_seconds', 'How long the oldest queued execution has waited.'),
    limit: gauge('fleet_limit', 'Running executions that the fleet may have.'),
    paused: gauge('fleet_paused', '1 while the fleet is paused.'),
    incidents: gauge('incidents', 'Incidents of a provider that are not over, by state.', 'state'),
    paused_providers: gauge('providers_paused', 'Providers that a person paused.'),
    live: gauge('runner_live_attempts', 'Attempts that hold a process, over all runners.'),
    runners: gauge('runners', 'Runners by whether they were heard of in the last minute.', 'state'),
    lag: gauge('event_loop_lag_p99_seconds', 'How late the event loop of the server is.'),
    memory: gauge('process_resident_memory_bytes', 'Memory of the server.'),
    uptime: gauge('uptime_seconds', 'Since the start of the server.'),
  };
};
type Gauges = Awaited<ReturnType<typeof makeGauges>>;

export const metricsRoutes: RouteModule = (deps) => async (app) => {
  const { clock } = deps.kernel;
  const startedAt = clock.steady();
  let readAt = Number.NEGATIVE_INFINITY;
  let gauges: Promise<Gauges> | null = null;

  const readRows = async ({ executions, ended, waiting, oldest, limit, paused, live, runners, ...more }: Gauges) => {
    const [occupancy, stats, fleet, known, incidents, providers] = await Promise.all([
      deps.store.read('occupancy', { limits: deps.claimLimits() }),
      deps.store.read('stats', { since: null }),
      deps.fleetLimits(),
      deps.store.read('runners', {}),
      deps.store.read('incidents', { limit: 0 }),
      deps.store.read('providers', {}),
    ]);
    for (const state of ['open', 'reopening'])
      more.incidents.set({ state }, incidents.filter((i) => i.state === state).length);
    more.paused_providers.set(providers.filter((p) => p.paused_at !== null).length);
    executions.set({ state: 'running' }, occupancy.fleet.running);
    executions.set({ state: 'waiting' }, occupancy.fleet.waiting);
    executions.set({ state: 'queued' }, occupancy.fleet.queued);
    ended.reset();
    for (const [cause, n] of Object.entries(stats.by_cause)) ended.set({ cause }, n);
    waiting.reset();
    for (const [reason, n] of Object.entries(occupancy.waiting_by_reason)) waiting.set({ reason }, n);
    const since = occupancy.fleet.oldest_queued_at;
    oldest.set(since === null ? 0 : Math.max(0, clock.now() - since) / 1000);
    limit.set(fleet.agent_call_limit);
    paused.set(fleet.paused ? 1 : 0);
    live.set(occupancy.runners.reduce((n, r) => n + r.live, 0));
    const here = known.filter((r) => isConnected(r, clock.now())).length;
    runners.set({ state: 'connected' }, here);
    runners.set({ state: 'away' }, known.length - here);
  };

  app.get(
    '/metrics',
    { config: { needs: 'anyone' }, schema: { tags: ['Health and set-up'], summary: 'Prometheus text' } },
    async (_request, reply) => {
      gauges ??= makeGauges();
      const all = await gauges;
      const { registry, lag, memory, uptime } = all;
      if (clock.steady() - readAt >= keptMs) {
        await readRows(all);
        readAt = clock.steady();
      }
      lag.set(deps.lag.p99Ms() / 1000);
      memory.set(process.memoryUsage.rss());
      uptime.set((clock.steady() - startedAt) / 1000);
      return reply.type(registry.contentType).send(await registry.metrics());
    },
  );
};
