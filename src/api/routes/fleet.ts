/** The fleet as a whole: its limits, its pause. A change acts at the next claim and ends nothing. */
import { z } from 'zod';
import { inForce } from '../../contract/agent.ts';
import { FleetLimitsBody, FleetLimitsChange } from '../../contract/fleet-bodies.ts';
import { fleetSettings, limits } from '../../contract/limits.ts';
import { type Principal, principalScope } from '../../contract/principal.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import { isoOrNull, type RouteModule, who } from '../route.ts';

const tags = ['Fleet'];
const Paused = z.object({ paused: z.boolean() });

export const fleetRoutes: RouteModule = (deps) => async (app) => {
  const body = async () => {
    const [fleet, occupancy, agents] = await Promise.all([
      deps.fleetLimits(),
      deps.store.read('occupancy', { limits: deps.claimLimits() }),
      deps.store.read('agents', {}),
    ]);
    const counts = new Map(occupancy.agents.map((a) => [a.agent_id, a]));
    return {
      agent_call_limit: fleet.agent_call_limit,
      agent_call_limit_source: fleet.agent_call_limit_source,
      queue_timeout_s: fleet.queue_timeout_s,
      queue_timeout_source: fleet.queue_timeout_source,
      ceiling: limits.agentCallLimit.max,
      paused: fleet.paused,
      running: occupancy.fleet.running,
      waiting: occupancy.fleet.waiting,
      queued: occupancy.fleet.queued,
      oldest_queued_at: isoOrNull(occupancy.fleet.oldest_queued_at),
      waiting_by_reason: occupancy.waiting_by_reason,
      agents: agents.map((a) => ({
        agent_name: a.name,
        running: counts.get(a.id)?.running ?? 0,
        waiting: counts.get(a.id)?.waiting ?? 0,
        queued: counts.get(a.id)?.queued ?? 0,
        max_parallel_tasks: inForce(a).max_parallel_tasks,
      })),
    };
  };

  app.get(
    '/api/fleet/limits',
    {
      config: { needs: 'read' },
      schema: { tags, summary: 'Limits in force, their source, what is in use', response: { 200: FleetLimitsBody } },
    },
    body,
  );

  app.put(
    '/api/fleet/limits',
    {
      config: { needs: 'operate' },
      schema: { tags, summary: 'Change the limits', body: FleetLimitsChange, response: { 200: FleetLimitsBody } },
    },
    async (request) => {
      const change = request.body;
      for (const [field, key] of [
        ['agent_call_limit', fleetSettings.agentCallLimit],
        ['queue_timeout_s', fleetSettings.queueTimeoutS],
      ] as const) {
        const value = change[field];
        if (value === undefined) continue;
        await commit(deps, 'put_setting', { key, value: value === null ? null : String(value) });
        await audit(deps, who(request), 'fleet.limits', field, { value });
      }
      return body();
    },
  );

  const pause = async (principal: Principal, paused: boolean) => {
    const done = await commit(deps, 'set_paused', { paused, by: principalScope(principal) });
    await audit(deps, principal, paused ? 'fleet.pause' : 'fleet.resume', 'fleet');
    return done;
  };
  app.post(
    '/api/fleet/pause',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Start nothing new; what runs ends, with the calls it makes',
        response: { 200: Paused },
      },
    },
    async (request) => pause(who(request), true),
  );
  app.post(
    '/api/fleet/resume',
    { config: { needs: 'operate' }, schema: { tags, summary: 'Go on', response: { 200: Paused } } },
    async (request) => pause(who(request), false),
  );
};
