/**
 * What a schedule does and did: run now by hand, the times it will fire, and its ticks with what came of each. Stores nothing
 * but by the door all work takes.
 */
import { z } from 'zod';
import { isRefusal } from '../../contract/errors.ts';
import { type ScheduleRow, scheduleLimits } from '../../contract/schedule.ts';
import { audit } from '../../record/audit.ts';
import { cronProblem } from '../../schedule/cron.ts';
import { nextPoints } from '../../schedule/due.ts';
import { runByHand } from '../../schedule/run-schedule.ts';
import { presentExecution } from '../present/execution.ts';
import { withWireDetail } from '../present/refusals.ts';
import { cutTexts, waitsOf } from '../read-execution.ts';
import { findSchedule, OneSchedule } from '../read-schedule.ts';
import { iso, Refused, type RouteModule, who } from '../route.ts';
import { Limit } from './work-params.ts';

const tags = ['Schedules'];

/** As a clock on the wall there shows it: `2026-10-25 02:30:00 CEST`. */
const localParts = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
} as const;

export const scheduleRunRoutes: RouteModule = (deps) => async (app) => {
  const { clock } = deps.kernel;

  app.post(
    '/api/agents/:name/schedules/:id/trigger',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Run it now, on or off; its next tick stays',
        params: OneSchedule,
        response: { 200: z.object({ status: z.string(), schedule_id: z.string(), execution_id: z.string() }) },
      },
    },
    async (request, reply) => {
      const { agent, schedule } = await findSchedule(deps, request);
      const principal = who(request);
      const given = await runByHand(deps, schedule, principal);
      if (isRefusal(given)) throw new Refused(withWireDetail(given, agent.name));
      await audit(deps, principal, 'schedule.trigger', `${agent.name}/${schedule.name}`, {
        execution_id: given.execution.id,
      });
      reply.header('x-execution-id', given.execution.id);
      return { status: 'triggered', schedule_id: schedule.id, execution_id: given.execution.id };
    },
  );

  app.get(
    '/api/agents/:name/schedules/:id/executions',
    {
      config: { needs: 'read' },
      schema: {
        tags,
        summary: 'Its ticks, newest first, skipped ones too; go on with before = the last fire_at',
        params: OneSchedule,
        querystring: z.object({ limit: Limit, before: z.iso.datetime({ offset: true }).optional() }),
      },
    },
    async (request) => {
      const { schedule } = await findSchedule(deps, request);
      const { limit, before } = request.query;
      const ticks = await deps.store.read('schedule_ticks', {
        schedule_id: schedule.id,
        limit,
        ...(before !== undefined && { before: Date.parse(before) }),
      });
      const waits = await waitsOf(
        deps,
        ticks.map((t) => t.execution),
      );
      return ticks.map((t) => ({
        ...presentExecution(cutTexts(t.execution), { wait: waits[t.execution.id] ?? null, oldStatus: true }),
        schedule_id: schedule.id,
        fire_at: iso(t.fire_at),
        by_hand: t.by_hand,
      }));
    },
  );

  const Preview = z.object({
    schedule_id: z.string().nullable(),
    timezone: z.string(),
    enabled: z.boolean(),
    times: z.array(z.object({ fire_at: z.string(), due_at: z.string(), local: z.string() })),
  });
  const previewOf = (s: Pick<ScheduleRow, 'id' | 'cron_expression' | 'timezone' | 'jitter_s'>, count: number) =>
    nextPoints(s, clock.now(), count).map((p) => ({
      fire_at: iso(p.fire_at),
      due_at: iso(p.due_at),
      local: new Date(p.fire_at).toLocaleString('sv-SE', { timeZone: s.timezone, ...localParts }),
    }));
  const Count = z.coerce
    .number()
    .int()
    .min(1)
    .default(scheduleLimits.preview.default)
    .transform((n) => Math.min(n, scheduleLimits.preview.max));

  app.get(
    '/api/agents/:name/schedules/:id/preview',
    {
      config: { needs: 'read' },
      schema: {
        tags,
        summary: 'When it fires next, on or off',
        params: OneSchedule,
        querystring: z.object({ count: Count }),
        response: { 200: Preview },
      },
    },
    async (request) => {
      const { schedule } = await findSchedule(deps, request);
      const { id: schedule_id, timezone, enabled } = schedule;
      return { schedule_id, timezone, enabled, times: previewOf(schedule, request.query.count) };
    },
  );

  app.post(
    '/api/schedules/preview',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'When a schedule of this pattern would fire; stores nothing',
        body: z.object({
          cron_expression: z.string().trim().min(1).max(scheduleLimits.cronChars),
          timezone: z.string().trim().min(1).max(100).nullish(),
          count: Count.nullish(),
        }),
        response: { 200: Preview },
      },
    },
    async (request) => {
      const { cron_expression, timezone: given, count } = request.body;
      const timezone = given ?? 'UTC';
      const problem = cronProblem(cron_expression, timezone, clock.now());
      if (problem !== null) throw new Refused(problem);
      const times = previewOf(
        { id: '', cron_expression, timezone, jitter_s: 0 },
        count ?? scheduleLimits.preview.default,
      );
      return { schedule_id: null, timezone, enabled: false, times };
    },
  );
};
