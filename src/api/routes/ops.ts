/** The fleet as older dashboards ask for it: counts of agents, and one word on its health with the reasons. */
import { z } from 'zod';
import { schedulesPausedKey } from '../../contract/schedule.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import { isConnected } from '../present/runner.ts';
import { iso, MessageBody, type RouteModule, who } from '../route.ts';

const tags = ['Fleet'];
const State = z.enum(['running', 'stopped']);
const Status = z.object({
  timestamp: z.string(),
  summary: z.object({ total: z.number(), running: z.number(), stopped: z.number() }),
  agents: z.array(
    z.object({
      name: z.string(),
      status: State,
      type: z.string(),
      running: z.number(),
      waiting: z.number(),
      queued: z.number(),
    }),
  ),
});
const Issue = z.object({ agent: z.string().nullable(), issue: z.string() });
const Health = z.object({
  timestamp: z.string(),
  overall: z.enum(['healthy', 'degraded', 'critical']),
  critical_issues: z.array(Issue),
  warnings: z.array(Issue),
  healthy_agents: z.array(z.string()),
  healthy_count: z.number(),
  /** Each axis by itself: what a person wants, what can be reached, what its login is known to be. */
  agents: z.array(
    z.object({
      name: z.string(),
      desired_state: State,
      reachable: z.boolean(),
      credential: z.string().nullable(),
      alerts: z.number(),
    }),
  ),
});

export const opsRoutes: RouteModule = (deps) => async (app) => {
  app.get(
    '/api/ops/fleet/status',
    { config: { needs: 'view' }, schema: { tags, summary: 'Agents and their states', response: { 200: Status } } },
    async () => {
      const [agents, occupancy] = await Promise.all([
        deps.store.read('agents', {}),
        deps.store.read('occupancy', { limits: deps.claimLimits() }),
      ]);
      const counts = new Map(occupancy.agents.map((a) => [a.agent_id, a]));
      const running = agents.filter((a) => a.desired_state === 'running').length;
      return {
        timestamp: iso(deps.kernel.clock.now()),
        summary: { total: agents.length, running, stopped: agents.length - running },
        agents: agents.map((a) => ({
          name: a.name,
          status: a.desired_state,
          type: a.type ?? a.adapter,
          running: counts.get(a.id)?.running ?? 0,
          waiting: counts.get(a.id)?.waiting ?? 0,
          queued: counts.get(a.id)?.queued ?? 0,
        })),
      };
    },
  );

  app.get(
    '/api/ops/fleet/health',
    {
      config: { needs: 'view' },
      schema: { tags, summary: 'Critical: no runner. Degraded: something needs a person', response: { 200: Health } },
    },
    async () => {
      const [agents, runners, items, fleet, credentials] = await Promise.all([
        deps.store.read('agents', {}),
        deps.store.read('runners', {}),
        deps.store.read('operator_items', { status: 'open', limit: 500 }),
        deps.fleetLimits(),
        deps.store.read('credentials', {}),
      ]);
      const now = deps.kernel.clock.now();
      const alive = runners.some((r) => isConnected(r, now));
      const critical_issues = alive ? [] : [{ agent: null, issue: 'No runner is connected: nothing can start.' }];
      const warnings = [
        ...(fleet.paused ? [{ agent: null, issue: 'The fleet is paused.' }] : []),
        ...items.map((i) => ({ agent: i.agent_name, issue: i.title })),
      ];
      const troubled = new Set(items.map((i) => i.agent_name));
      const healthy_agents = agents.filter((a) => !troubled.has(a.name)).map((a) => a.name);
      return {
        timestamp: iso(now),
        overall:
          critical_issues.length > 0
            ? ('critical' as const)
            : warnings.length > 0
              ? ('degraded' as const)
              : ('healthy' as const),
        critical_issues,
        warnings,
        healthy_agents,
        healthy_count: healthy_agents.length,
        agents: agents.map((a) => ({
          name: a.name,
          desired_state: a.desired_state,
          reachable: alive,
          credential: credentials.find((c) => c.id === a.credential_id)?.state ?? null,
          alerts: items.filter((i) => i.agent_name === a.name && i.kind === 'alert').length,
        })),
      };
    },
  );

  for (const [verb, paused] of [
    ['pause', true],
    ['resume', false],
  ] as const)
    app.post(
      `/api/ops/schedules/${verb}`,
      {
        config: { needs: 'operate' },
        schema: {
          tags,
          summary: paused
            ? 'Hold all schedules: ticks are skipped, each with a row'
            : 'Schedules run again from now on',
          // A filter that is not known would hold all where few were meant.
          querystring: z.strictObject({}),
          response: {
            200: MessageBody.extend({
              success: z.literal(true),
              paused: z.boolean(),
              schedules: z.number(),
              paused_count: z.number(),
              resumed_count: z.number(),
            }),
          },
        },
      },
      async (request) => {
        await commit(deps, 'put_setting', { key: schedulesPausedKey, value: paused ? '1' : null });
        await audit(deps, who(request), `schedules.${verb}`, 'all');
        const schedules = (await deps.store.read('schedules', {})).filter((s) => s.enabled).length;
        return {
          success: true as const,
          message: `${schedules} schedules are ${paused ? 'held' : 'on again'}.`,
          paused,
          schedules,
          paused_count: paused ? schedules : 0,
          resumed_count: paused ? 0 : schedules,
        };
      },
    );

  app.get(
    '/api/ops/schedules',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'Are all schedules held, how many are on, and what comes next',
        response: {
          200: z.object({
            paused: z.boolean(),
            total: z.number(),
            enabled: z.number(),
            next_run_at: z.string().nullable(),
          }),
        },
      },
    },
    async () => {
      const all = await deps.store.read('schedules', {});
      const next = all.map((s) => s.next_due_at).filter((at) => at !== null);
      return {
        paused: (await deps.store.read('setting', { key: schedulesPausedKey }))?.value === '1',
        total: all.length,
        enabled: all.filter((s) => s.enabled).length,
        next_run_at: next.length === 0 ? null : iso(Math.min(...next)),
      };
    },
  );
};
