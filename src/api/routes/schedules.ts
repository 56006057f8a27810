/**
 * Schedules of an agent: made, changed, switched, run by hand, previewed, and what came of each tick. A pattern that cannot be
 * read or never comes true is refused here, by the name of its field, and nothing is stored. Runs nothing: the ticker does.
 */
import { z } from 'zod';
import type { AgentRow } from '../../contract/agent.ts';
import { refuse } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { principalScope } from '../../contract/principal.ts';
import { catchUps, overlaps, type ScheduleRow, scheduleLimits } from '../../contract/schedule.ts';
import { cleanText } from '../../contract/text.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import { cronProblem } from '../../schedule/cron.ts';
import { nextPoint } from '../../schedule/due.ts';
import { presentSchedule, ScheduleBody } from '../present/schedule.ts';
import { findSchedule, OneSchedule } from '../read-schedule.ts';
import { findAgent, NameParams, orNotFound, orRefuse, Refused, type RouteModule, who } from '../route.ts';

const tags = ['Schedules'];

export const ScheduleFields = z.object({
  name: z.string().trim().min(1).max(scheduleLimits.nameChars),
  cron_expression: z.string().trim().min(1).max(scheduleLimits.cronChars),
  message: z.string().refine((m) => m.trim() !== '', 'is empty; say what the agent is to do'),
  description: z.string().max(scheduleLimits.descriptionChars).nullish(),
  timezone: z.string().trim().min(1).max(100).nullish(),
  enabled: z.boolean().nullish(),
  overlap: z.enum(overlaps).nullish(),
  catch_up: z.enum(catchUps).nullish(),
  jitter_seconds: z.number().int().min(0).max(scheduleLimits.jitterS.max).nullish(),
  timeout_seconds: z.number().int().min(limits.timeoutS.min).max(limits.timeoutS.max).nullish(),
  max_retries: z.number().int().min(0).max(10).nullish(),
  model: z.string().max(200).nullish(),
});
const Change = ScheduleFields.partial();

/** Of what is given; what is left out is not there. */
export const scheduleColumns = (b: z.infer<typeof Change>): Partial<ScheduleRow> => {
  const columns: Partial<ScheduleRow> = {
    name: b.name,
    cron_expression: b.cron_expression,
    message: b.message === undefined ? undefined : cleanText(b.message),
    description: b.description,
    timezone: b.timezone ?? undefined,
    enabled: b.enabled ?? undefined,
    overlap: b.overlap ?? undefined,
    catch_up: b.catch_up ?? undefined,
    jitter_s: b.jitter_seconds ?? undefined,
    timeout_s: b.timeout_seconds,
    max_retries: b.max_retries,
    model: b.model,
  };
  return Object.fromEntries(Object.entries(columns).filter(([, v]) => v !== undefined));
};

export const scheduleRoutes: RouteModule = (deps) => async (app) => {
  const { clock, ids } = deps.kernel;

  /** When it is due next, counted from now; nothing while it is off. */
  const timed = (s: ScheduleRow): Pick<ScheduleRow, 'next_fire_at' | 'next_due_at'> => {
    const next = s.enabled ? nextPoint(s, clock.now()) : null;
    return { next_fire_at: next?.fire_at ?? null, next_due_at: next?.due_at ?? null };
  };
  const checked = (s: ScheduleRow): ScheduleRow => {
    const problem = cronProblem(s.cron_expression, s.timezone, clock.now());
    if (problem !== null) throw new Refused(problem);
    const bytes = Buffer.byteLength(s.message);
    if (bytes > limits.messageBytes)
      throw new Refused(
        refuse('too_large', `message has ${bytes} bytes; at most ${limits.messageBytes} are accepted.`),
      );
    if (s.model !== null && /^\s*-|\0/.test(s.model))
      throw new Refused(refuse('invalid', 'model must not begin with "-" or hold a NUL byte.'));
    return s;
  };

  const put = async (s: ScheduleRow, patch: Partial<ScheduleRow>): Promise<ScheduleRow> => {
    // The next tick is counted anew only when what gives it changed: a new name must not lose one that is due.
    const moves = ['cron_expression', 'timezone', 'jitter_s', 'enabled'].some(
      (k) => k in patch && patch[k as keyof ScheduleRow] !== s[k as keyof ScheduleRow],
    );
    const wanted = checked({ ...s, ...patch });
    const done = await commit(deps, 'update_schedule', {
      id: s.id,
      patch: { ...patch, ...(moves && timed(wanted)) },
    });
    return orNotFound(orRefuse(done), 'schedule');
  };

  app.get(
    '/api/schedules',
    {
      config: { needs: 'view' },
      schema: { tags, summary: 'The schedules of all agents', response: { 200: z.array(ScheduleBody) } },
    },
    async () => (await deps.store.read('schedules', {})).map(presentSchedule),
  );

  app.get(
    '/api/agents/:name/schedules',
    {
      config: { needs: 'read' },
      schema: {
        tags,
        summary: 'The schedules of an agent',
        params: NameParams,
        response: { 200: z.array(ScheduleBody) },
      },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      return (await deps.store.read('schedules', { agent_id: agent.id })).map(presentSchedule);
    },
  );

  const fresh = (agent: AgentRow, body: z.infer<typeof ScheduleFields>, by: string): ScheduleRow => {
    const now = clock.now();
    const row: ScheduleRow = {
      id: ids.next(now),
      agent_id: agent.id,
      agent_name: agent.name,
      name: body.name,
      description: null,
      cron_expression: body.cron_expression,
      timezone: 'UTC',
      message: body.message,
      model: null,
      enabled: true,
      overlap: 'skip',
      catch_up: 'none',
      jitter_s: scheduleLimits.jitterS.default,
      timeout_s: null,
      max_retries: null,
      next_fire_at: null,
      next_due_at: null,
      last_fire_at: null,
      created_by: by,
      created_at: now,
      updated_at: now,
      ...scheduleColumns(body),
    };
    return { ...checked(row), ...timed(row) };
  };

  app.post(
    '/api/agents/:name/schedules',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Make a schedule: cron_expression in its timezone, of five fields or six (seconds first)',
        params: NameParams,
        body: ScheduleFields,
        response: { 201: ScheduleBody },
      },
    },
    async (request, reply) => {
      const principal = who(request);
      const agent = await findAgent(deps, request);
      const row = fresh(agent, request.body, principalScope(principal));
      const made = orRefuse(await commit(deps, 'create_schedule', { schedule: row }));
      await audit(deps, principal, 'schedule.create', `${agent.name}/${made.name}`, { cron: made.cron_expression });
      return reply.code(201).send(presentSchedule(made));
    },
  );

  app.get(
    '/api/agents/:name/schedules/:id',
    {
      config: { needs: 'read' },
      schema: { tags, summary: 'One schedule', params: OneSchedule, response: { 200: ScheduleBody } },
    },
    async (request) => presentSchedule((await findSchedule(deps, request)).schedule),
  );

  app.put(
    '/api/agents/:name/schedules/:id',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Change a schedule; fields left out stay',
        params: OneSchedule,
        body: Change,
        response: { 200: ScheduleBody },
      },
    },
    async (request) => {
      const { agent, schedule } = await findSchedule(deps, request);
      const patch = scheduleColumns(request.body);
      const row = await put(schedule, patch);
      await audit(deps, who(request), 'schedule.change', `${agent.name}/${row.name}`, { fields: Object.keys(patch) });
      return presentSchedule(row);
    },
  );

  app.delete(
    '/api/agents/:name/schedules/:id',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Delete a schedule; what it ran is kept',
        params: OneSchedule,
        response: { 204: z.null() },
      },
    },
    async (request, reply) => {
      const { agent, schedule } = await findSchedule(deps, request);
      await commit(deps, 'delete_schedule', { id: schedule.id });
      await audit(deps, who(request), 'schedule.delete', `${agent.name}/${schedule.name}`);
      return reply.code(204).send(null);
    },
  );

  for (const [verb, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const)
    app.post(
      `/api/agents/:name/schedules/:id/${verb}`,
      {
        config: { needs: 'operate' },
        schema: {
          tags,
          summary: enabled
            ? 'Switch on: the next tick is counted from now'
            : 'Switch off: no tick until it is on again',
          params: OneSchedule,
          response: { 200: ScheduleBody.extend({ status: z.string() }) },
        },
      },
      async (request) => {
        const { agent, schedule } = await findSchedule(deps, request);
        const row = schedule.enabled === enabled ? schedule : await put(schedule, { enabled });
        if (row !== schedule) await audit(deps, who(request), `schedule.${verb}`, `${agent.name}/${row.name}`);
        return { ...presentSchedule(row), status: `${verb}d` };
      },
    );
};
