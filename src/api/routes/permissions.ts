/**
 * Whom an agent may call. Without a list of its own it may call every agent of its owner, and itself always; a list is kept by
 * id. Held by admission for every call, whatever its door; here it is only written and shown.
 */
import { z } from 'zod';
import type { AgentRow } from '../../contract/agent.ts';
import { refuse } from '../../contract/errors.ts';
import { cleanName } from '../../contract/names.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import { type ApiDeps, findAgent, NameParams, Refused, type RouteModule, who } from '../route.ts';

const Body = z.object({ permitted_agents: z.array(z.string().max(300)).max(1_000).nullable() });
const Answer = z.object({
  source_agent: z.string(),
  /** `default`: every agent of the same owner, those made later too. */
  mode: z.enum(['default', 'list']),
  permitted_agents: z.array(z.string()),
  available_agents: z.array(
    z.object({ name: z.string(), status: z.string(), type: z.string().nullable(), permitted: z.boolean() }),
  ),
});
/** What became of the change, as older clients read it. */
const Changed = Answer.extend({
  status: z.enum(['updated', 'added', 'already_exists', 'removed', 'not_found']),
  permitted_count: z.number(),
});
const Target = NameParams.extend({ target: z.string().max(300) });
const tags = ['Agents'];

const others = async (deps: ApiDeps, agent: AgentRow): Promise<AgentRow[]> =>
  (await deps.store.read('agents', {})).filter((a) => a.owner_id === agent.owner_id && a.id !== agent.id);

export const permissionRoutes: RouteModule = (deps) => async (app) => {
  const shown = async (agent: AgentRow): Promise<z.infer<typeof Answer>> => {
    const targets = await deps.store.read('permissions', { agent_id: agent.id });
    const available = (await others(deps, agent)).map((a) => ({
      name: a.name,
      status: a.desired_state,
      type: a.type,
      permitted: targets === null || targets.includes(a.id),
    }));
    return {
      source_agent: agent.name,
      mode: targets === null ? 'default' : 'list',
      permitted_agents: available.filter((a) => a.permitted).map((a) => a.name),
      available_agents: available,
    };
  };
  const told = async (agent: AgentRow, status: z.infer<typeof Changed>['status']) => {
    const now = await shown(agent);
    return { ...now, status, permitted_count: now.permitted_agents.length };
  };
  const write = async (
    request: Parameters<typeof who>[0],
    agent: AgentRow,
    targets: AgentRow[] | null,
    status: z.infer<typeof Changed>['status'],
  ) => {
    await commit(deps, 'put_permissions', { agent_id: agent.id, targets: targets?.map((a) => a.id) ?? null });
    await audit(deps, who(request), 'agent.permissions', agent.name, {
      permitted: targets?.map((a) => a.name) ?? null,
    });
    return told(agent, status);
  };
  const named = (available: AgentRow[], name: string): AgentRow => {
    const found = available.find((a) => a.name === cleanName(name));
    if (found === undefined)
      throw new Refused(refuse('not_found', `There is no agent "${cleanName(name)}" that it could call.`));
    return found;
  };
  const permitted = async (agent: AgentRow, available: AgentRow[]): Promise<AgentRow[]> => {
    const targets = await deps.store.read('permissions', { agent_id: agent.id });
    return available.filter((a) => targets === null || targets.includes(a.id));
  };

  app.get(
    '/api/agents/:name/permissions',
    {
      config: { needs: 'view' },
      schema: { tags, summary: 'Whom this agent may call', params: NameParams, response: { 200: Answer } },
    },
    async (request) => shown(await findAgent(deps, request)),
  );

  app.put(
    '/api/agents/:name/permissions',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Set whom this agent may call; null goes back to every agent of its owner',
        params: NameParams,
        body: Body,
        response: { 200: Changed },
      },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const { permitted_agents } = request.body;
      if (permitted_agents === null) return write(request, agent, null, 'updated');
      const available = await others(deps, agent);
      const wanted = permitted_agents.filter((name) => cleanName(name) !== agent.name);
      return write(
        request,
        agent,
        wanted.map((name) => named(available, name)),
        'updated',
      );
    },
  );

  app.post(
    '/api/agents/:name/permissions/:target',
    {
      config: { needs: 'operate' },
      schema: { tags, summary: 'Let this agent call another', params: Target, response: { 200: Changed } },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      if (cleanName(request.params.target) === agent.name)
        throw new Refused(refuse('invalid', 'target: an agent may always call itself; name another one.'));
      const available = await others(deps, agent);
      const target = named(available, request.params.target);
      const now = await permitted(agent, available);
      return now.includes(target) ? told(agent, 'already_exists') : write(request, agent, [...now, target], 'added');
    },
  );

  app.delete(
    '/api/agents/:name/permissions/:target',
    {
      config: { needs: 'operate' },
      schema: { tags, summary: 'Keep this agent from calling another', params: Target, response: { 200: Changed } },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const available = await others(deps, agent);
      const target = named(available, request.params.target);
      const now = await permitted(agent, available);
      return now.includes(target)
        ? write(
            request,
            agent,
            now.filter((a) => a !== target),
            'removed',
          )
        : told(agent, 'not_found');
    },
  );
};
