/** The limits and the model of one agent, as older clients ask for them: the value, the ceiling, the effective value. */
import { z } from 'zod';
import { type AgentRow, inForce } from '../../contract/agent.ts';
import { limits } from '../../contract/limits.ts';
import { cutTexts } from '../read-execution.ts';
import { findAgent, iso, NameParams, type RouteModule, who } from '../route.ts';
import { changeAgent } from './agents.ts';

const tags = ['Agents'];
const int = (l: { min: number; max: number }) => z.number().int().min(l.min).max(l.max).nullable();

const previewChars = 100;
const Capacity = z.object({
  agent_name: z.string(),
  /** The cap in force; `is_default`: nobody set one. */
  max_parallel_tasks: z.number(),
  is_default: z.boolean(),
  effective: z.number(),
  effective_max_parallel_tasks: z.number(),
  ceiling: z.number(),
  max_backlog_depth: z.number(),
  active_slots: z.number(),
  available_slots: z.number(),
  waiting: z.number(),
  queued: z.number(),
  /** What holds a slot now, oldest first. */
  slots: z.array(
    z.object({
      slot_number: z.number(),
      execution_id: z.string(),
      started_at: z.string(),
      message_preview: z.string(),
      duration_seconds: z.number(),
    }),
  ),
});
const Timeout = z.object({
  agent_name: z.string(),
  /** In force; `is_default`: nobody set one. */
  execution_timeout_seconds: z.number(),
  execution_timeout_minutes: z.number(),
  is_default: z.boolean(),
  effective: z.number(),
  minimum: z.number(),
  ceiling: z.number(),
});
const Model = z.object({ agent_name: z.string(), model: z.string().nullable() });

export const agentLimitRoutes: RouteModule = (deps) => async (app) => {
  const capacity = async (agent: AgentRow) => {
    const [{ agents }, running] = await Promise.all([
      deps.store.read('occupancy', { limits: deps.claimLimits() }),
      deps.store.read('executions_with_texts', {
        agent_id: agent.id,
        status: ['running'],
        limit: limits.maxParallelTasks.max,
        text_chars: previewChars,
      }),
    ]);
    const now = deps.kernel.clock.now();
    const counts = agents.find((a) => a.agent_id === agent.id) ?? { running: 0, waiting: 0, queued: 0 };
    const { max_parallel_tasks: effective, max_backlog_depth } = inForce(agent);
    return {
      agent_name: agent.name,
      max_parallel_tasks: effective,
      is_default: agent.max_parallel_tasks === null,
      effective,
      effective_max_parallel_tasks: effective,
      ceiling: limits.maxParallelTasks.max,
      max_backlog_depth,
      active_slots: counts.running,
      available_slots: Math.max(0, effective - counts.running),
      waiting: counts.waiting,
      queued: counts.queued,
      // Claimed and not yet spawned holds a slot, too; its run has not begun.
      slots: running.reverse().map((row, i) => ({
        slot_number: i + 1,
        execution_id: row.id,
        started_at: iso(row.started_at ?? now),
        message_preview: cutTexts(row).message,
        duration_seconds: Math.max(0, Math.floor((now - (row.started_at ?? now)) / 1000)),
      })),
    };
  };
  const timeout = (agent: AgentRow) => ({
    agent_name: agent.name,
    execution_timeout_seconds: inForce(agent).timeout_s,
    execution_timeout_minutes: Math.floor(inForce(agent).timeout_s / 60),
    is_default: agent.timeout_s === null,
    effective: inForce(agent).timeout_s,
    minimum: limits.timeoutS.min,
    ceiling: limits.timeoutS.max,
  });

  app.get(
    '/api/agents/:name/capacity',
    { config: { needs: 'read' }, schema: { tags, summary: 'Slots', params: NameParams, response: { 200: Capacity } } },
    async (request) => capacity(await findAgent(deps, request)),
  );
  app.put(
    '/api/agents/:name/capacity',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Change the cap; null is the default. It acts at the next claim and ends nothing',
        params: NameParams,
        body: z.object({ max_parallel_tasks: int(limits.maxParallelTasks) }),
        response: { 200: Capacity },
      },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      return capacity(await changeAgent(deps, who(request), agent, request.body));
    },
  );

  app.get(
    '/api/agents/:name/timeout',
    {
      config: { needs: 'read' },
      schema: { tags, summary: 'Run clock', params: NameParams, response: { 200: Timeout } },
    },
    async (request) => timeout(await findAgent(deps, request)),
  );
  app.put(
    '/api/agents/:name/timeout',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Change the run clock of later runs; null is the default',
        params: NameParams,
        body: z.object({ execution_timeout_seconds: int(limits.timeoutS) }),
        response: { 200: Timeout.extend({ message: z.string() }) },
      },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const patch = { timeout_s: request.body.execution_timeout_seconds };
      return { ...timeout(await changeAgent(deps, who(request), agent, patch)), message: 'Timeout updated' };
    },
  );

  app.get(
    '/api/agents/:name/model',
    { config: { needs: 'read' }, schema: { tags, summary: 'Model', params: NameParams, response: { 200: Model } } },
    async (request) => {
      const { name, model } = await findAgent(deps, request);
      return { agent_name: name, model };
    },
  );
  app.put(
    '/api/agents/:name/model',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Change the model of later runs; null is the CLI’s default',
        params: NameParams,
        body: z.object({
          model: z
            .string()
            .trim()
            .max(200)
            .regex(/^[^-\0]/, 'must not begin with "-"')
            .nullable(),
        }),
        response: { 200: Model },
      },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const { name, model } = await changeAgent(deps, who(request), agent, request.body);
      return { agent_name: name, model };
    },
  );
};
