/** Agents: made, listed, changed, started, stopped, deleted. A stop lets running work end; a delete keeps the workspace. */
import { z } from 'zod';
import { type AgentColumns, admitAgent, admitPatch } from '../../admission/agent-spec.ts';
import { maySee } from '../../admission/visible.ts';
import { AgentPatch, type AgentRow, AgentSpec } from '../../contract/agent.ts';
import { AgentBody, AgentDetailBody } from '../../contract/agent-bodies.ts';
import { type Principal, principalScope } from '../../contract/principal.ts';
import { stopRunning } from '../../flow/stop-running.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import { presentAgent, presentAgentDetail } from '../present/agent.ts';
import {
  type ApiDeps,
  findAgent,
  MessageBody,
  NameParams,
  orNotFound,
  orRefuse,
  type RouteModule,
  who,
} from '../route.ts';

const tags = ['Agents'];
const Force = z.object({ force: z.enum(['true', 'false', '1', '0', '']).optional() });

export const changeAgent = async (
  deps: ApiDeps,
  principal: Principal,
  agent: AgentRow,
  columns: AgentColumns,
): Promise<AgentRow> => {
  const changed = orNotFound(await commit(deps, 'update_agent', { id: agent.id, patch: columns }), 'agent');
  // Names of what changed: values may be long, and env is nobody's business.
  await audit(deps, principal, 'agent.change', agent.name, { fields: Object.keys(columns) });
  return changed;
};

export const agentRoutes: RouteModule = (deps) => async (app) => {
  const { home } = deps.config;

  const around = async (principal: Principal) => ({
    home,
    principal,
    users: await deps.store.read('users', {}),
    occupancy: await deps.store.read('occupancy', { limits: deps.claimLimits() }),
  });
  const detail = async (agent: AgentRow, principal: Principal) => {
    const credentials = agent.credential_id === null ? [] : await deps.store.read('credentials', {});
    return presentAgentDetail(agent, {
      ...(await around(principal)),
      credential: credentials.find((c) => c.id === agent.credential_id) ?? null,
      runners: await deps.store.read('runners', {}),
      now: deps.kernel.clock.now(),
    });
  };
  const surroundings = async () => {
    const runners = await deps.store.read('runners', {});
    return {
      isolated: runners.length > 0 && runners.every((r) => r.isolation === 'user' || r.isolation === 'container'),
    };
  };

  app.get(
    '/api/agents',
    { config: { needs: 'read' }, schema: { tags, summary: 'All agents', response: { 200: z.array(AgentBody) } } },
    async (request) => {
      const principal = who(request);
      const agents = await deps.store.read('agents', {});
      const seen = await Promise.all(agents.map((a) => maySee(deps.store, a, principal)));
      const with_ = await around(principal);
      return agents.filter((_, i) => seen[i]).map((a) => presentAgent(a, with_));
    },
  );

  app.post(
    '/api/agents',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Make an agent; it accepts work at once',
        body: AgentSpec,
        response: { 201: AgentDetailBody },
      },
    },
    async (request, reply) => {
      const principal = who(request);
      const now = deps.kernel.clock.now();
      const owner_id = principal.kind === 'user' ? principal.id : '';
      const agent = orRefuse(
        await admitAgent(request.body, { id: deps.kernel.ids.next(now), owner_id, now }, await surroundings()),
      );
      const made = orRefuse(await commit(deps, 'create_agent', { agent }));
      await audit(deps, principal, 'agent.create', made.name, { adapter: made.adapter });
      return reply.code(201).send(await detail(made, principal));
    },
  );

  app.get(
    '/api/agents/:name',
    {
      config: { needs: 'read' },
      schema: { tags, summary: 'One agent', params: NameParams, response: { 200: AgentDetailBody } },
    },
    async (request) => detail(await findAgent(deps, request), who(request)),
  );

  app.put(
    '/api/agents/:name',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Change an agent; fields left out stay, null is the default. It counts from the next run on',
        params: NameParams,
        body: AgentPatch,
        response: { 200: AgentDetailBody },
      },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const columns = orRefuse(await admitPatch(agent, request.body, await surroundings()));
      return detail(await changeAgent(deps, who(request), agent, columns), who(request));
    },
  );

  app.delete(
    '/api/agents/:name',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Delete an agent: its queued work is cancelled, its running work stopped, its workspace kept',
        params: NameParams,
        response: { 200: MessageBody.extend({ cancelled: z.number() }) },
      },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const principal = who(request);
      const { cancelled } = await commit(deps, 'delete_agent', { id: agent.id, by: principalScope(principal) });
      deps.auth.forget();
      await audit(deps, principal, 'agent.delete', agent.name, { cancelled });
      return { message: `Agent ${agent.name} is deleted.`, cancelled };
    },
  );

  app.post(
    '/api/agents/:name/start',
    {
      config: { needs: 'operate' },
      schema: { tags, summary: 'Accept work', params: NameParams, response: { 200: MessageBody } },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      if (agent.desired_state === 'running') return { message: `Agent ${agent.name} is running already.` };
      await changeAgent(deps, who(request), agent, { desired_state: 'running' });
      return { message: `Agent ${agent.name} is started.` };
    },
  );

  app.post(
    '/api/agents/:name/stop',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Accept no work; what runs ends by itself, unless force',
        params: NameParams,
        querystring: Force,
        response: { 200: MessageBody.extend({ stopping: z.number() }) },
      },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const principal = who(request);
      if (agent.desired_state === 'running') await changeAgent(deps, principal, agent, { desired_state: 'stopped' });
      const force = request.query.force === 'true' || request.query.force === '1';
      const told = force
        ? await stopRunning(deps, agent.id, principalScope(principal), 'the agent was stopped by force')
        : [];
      if (told.length > 0) await audit(deps, principal, 'agent.stop_force', agent.name, { executions: told });
      const stopping = told.length;
      const ends = stopping > 0 ? ` ${stopping} running executions are being stopped.` : '';
      return { message: `Agent ${agent.name} is stopped.${ends}`, stopping };
    },
  );
};
