/**
 * The whole fleet at once: stop, restart, and the emergency stop, which starts nothing new, holds schedules and ends what runs, and
 * keeps the queue. Each is the same as doing it agent by agent, and one row of the audit.
 */
import { z } from 'zod';
import { cleanName } from '../../contract/names.ts';
import { type Principal, principalScope } from '../../contract/principal.ts';
import { schedulesPausedKey } from '../../contract/schedule.ts';
import { stopRunning } from '../../flow/stop-running.ts';
import { itemBody } from '../../operator/item-body.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import { iso, MessageBody, orNotFound, type RouteModule, who } from '../route.ts';

const tags = ['Fleet'];
const Which = z.object({
  /** Names; left out: all. */
  agents: z.array(z.string().max(300)).max(10_000).nullish(),
  /** Also end what runs. */
  force: z.boolean().nullish(),
});
/** Strict: what narrows a stop and is not known would stop all. */
const Prefix = z.strictObject({ system_prefix: z.string().min(1).max(300).optional() });
const Done = MessageBody.extend({
  timestamp: z.string(),
  agents: z.array(z.string()),
  stopping: z.number(),
  summary: z.object({ total: z.number(), successes: z.number(), failures: z.number() }),
  results: z.array(z.object({ agent: z.string(), result: z.literal('success') })),
});

export const fleetOpsRoutes: RouteModule = (deps) => async (app) => {
  const chosen = async (names: readonly string[] | null | undefined, prefix: string) => {
    const all = (await deps.store.read('agents', {})).filter((a) => a.name.startsWith(prefix));
    return names == null
      ? all
      : names.map((name) => orNotFound(all.find((a) => a.name === cleanName(name)) ?? null, `agent "${name}"`));
  };

  const told = (agents: { name: string }[], stopping: number, what: string) => ({
    message: `${agents.length} agents ${what}.`,
    timestamp: iso(deps.kernel.clock.now()),
    agents: agents.map((a) => a.name),
    stopping,
    summary: { total: agents.length, successes: agents.length, failures: 0 },
    results: agents.map((a) => ({ agent: a.name, result: 'success' as const })),
  });

  const stop = async (
    p: Principal,
    { agents: names, force }: z.infer<typeof Which>,
    prefix: string | undefined,
    reason: string,
  ) => {
    const agents = await chosen(names, prefix ?? '');
    let stopping = 0;
    for (const a of agents) {
      if (a.desired_state === 'running')
        await commit(deps, 'update_agent', { id: a.id, patch: { desired_state: 'stopped' } });
      if (force) stopping += (await stopRunning(deps, a.id, principalScope(p), reason)).length;
    }
    return { agents, stopping };
  };

  app.post(
    '/api/ops/fleet/stop',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Stop all agents, or those named: they accept no work; what runs ends by itself, unless force',
        querystring: Prefix,
        body: Which,
        response: { 200: Done },
      },
    },
    async (request) => {
      const p = who(request);
      const { agents, stopping } = await stop(
        p,
        request.body,
        request.query.system_prefix,
        'the fleet was stopped by force',
      );
      await audit(deps, p, 'fleet.stop', 'fleet', { agents: agents.length, stopping });
      return told(agents, stopping, 'are stopped');
    },
  );

  app.post(
    '/api/ops/fleet/restart',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary:
          'Stop and start all agents, or those named. No process lives between runs: with force what runs is ended',
        querystring: Prefix,
        body: Which,
        response: { 200: Done },
      },
    },
    async (request) => {
      const p = who(request);
      const { agents, stopping } = await stop(
        p,
        request.body,
        request.query.system_prefix,
        'the fleet was restarted by force',
      );
      for (const a of agents) await commit(deps, 'update_agent', { id: a.id, patch: { desired_state: 'running' } });
      await audit(deps, p, 'fleet.restart', 'fleet', { agents: agents.length, stopping });
      return told(agents, stopping, 'accept work');
    },
  );

  app.post(
    '/api/ops/emergency-stop',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'At once: nothing new starts, schedules are held, all that runs is ended. The queue is kept',
        querystring: z.strictObject({}),
        body: z.object({ reason: z.string().max(1_000).nullish() }),
        response: {
          200: MessageBody.extend({
            success: z.literal(true),
            paused: z.boolean(),
            schedules_paused: z.boolean(),
            stopping: z.number(),
            queued: z.number(),
            undo: z.array(z.string()),
          }),
        },
      },
    },
    async (request) => {
      const p = who(request);
      const by = principalScope(p);
      // The pause first: what is stopped must not make room for something new.
      await commit(deps, 'set_paused', { paused: true, by });
      await commit(deps, 'put_setting', { key: schedulesPausedKey, value: '1' });
      const reason = request.body.reason ?? 'emergency stop';
      const stopping = (await stopRunning(deps, null, by, reason)).length;
      const { fleet } = await deps.store.read('occupancy', { limits: deps.claimLimits() });
      await audit(deps, p, 'fleet.emergency_stop', 'fleet', { stopping, queued: fleet.queued, reason });
      return {
        success: true as const,
        message: `${stopping} executions are being ended; nothing new starts. ${fleet.queued} stay in the queue.`,
        paused: true,
        schedules_paused: true,
        stopping,
        queued: fleet.queued,
        undo: ['POST /api/fleet/resume', 'POST /api/ops/schedules/resume'],
      };
    },
  );

  app.get(
    '/api/ops/alerts',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'Alerts that nobody has looked at yet, newest first',
        querystring: z.object({ limit: z.coerce.number().int().min(1).max(500).default(100) }),
        response: {
          200: z.object({
            timestamp: z.string(),
            count: z.number(),
            alerts: z.array(
              z.object({
                id: z.string(),
                severity: z.string(),
                agent_name: z.string().nullable(),
                execution_id: z.string().nullable(),
                title: z.string(),
                evidence: z.array(z.string()),
                count: z.number(),
                created_at: z.string(),
                last_at: z.string(),
              }),
            ),
          }),
        },
      },
    },
    async (request) => {
      const open = await deps.store.read('operator_items', { status: 'open', limit: 500 });
      const alerts = open.filter((i) => i.kind === 'alert').slice(0, request.query.limit);
      return { timestamp: iso(deps.kernel.clock.now()), count: alerts.length, alerts: alerts.map(itemBody) };
    },
  );
};
