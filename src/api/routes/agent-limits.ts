/** The limits and the model of one agent, as older clients ask for them: the value, the ceiling, the effective value. */
import { z } from 'zod';
import { type AgentRow, inForce } from '../../contract/agent.ts';
import { limits } from '../../contract/limits.ts';
import { findAgent, NameParams, type RouteModule, who } from '../route.ts';
import { changeAgent } from './agents.ts';

const tags = ['Agents'];
const int = (l: { min: number; max: number }) => z.number().int().min(l.min).max(l.max).nullable();

const Capacity = z.object({
  agent_name: z.string(),
  max_parallel_tasks: z.number().nullable(),
  effective: z.number(),
  ceiling: z.number(),
  max_backlog_depth: z.number(),
  active_slots: z.number(),
  available_slots: z.number(),
  waiting: z.number(),
  queued: z.number(),
});
const Timeout = z.object({
  agent_name: z.string(),
  execution_timeout_seconds: z.number().nullable(),
  effective: z.number(),
  minimum: z.number(),
  ceiling: z.number(),
});
const Model = z.object({ agent_name: z.string(), model: z.string().nullable() });

export const agentLimitRoutes: RouteModule = (deps) => async (app) => {
  const capacity = async (agent: AgentRow) => {
    const { agents } = await deps.store.read('occupancy', { limits: deps.claimLimits() });
    const counts = agents.find((a) => a.agent_id === agent.id) ?? { running: 0, waiting: 0, queued: 0 };
    const { max_parallel_tasks: effective, max_backlog_depth } = inForce(agent);
    return {
      agent_name: agent.name,
      max_parallel_tasks: agent.max_parallel_tasks,
      effective,
      ceiling: limits.maxParallelTasks.max,
      max_backlog_depth,
      active_slots: counts.running,
      available_slots: Math.max(0, effective - counts.running),
      waiting: counts.waiting,
      queued: counts.queued,
    };
  };
  const timeout = (agent: AgentRow) => ({
    agent_name: agent.name,
    execution_timeout_seconds: agent.timeout_s,
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
        response: { 200: Timeout },
      },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      return timeout(
        await changeAgent(deps, who(request), agent, { timeout_s: request.body.execution_timeout_seconds }),
      );
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
