/** What waits for an agent and what it does now; and to clear what waits. Slots follow rows: there is nothing to release. */
import { principalScope } from '../../contract/principal.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import { presentExecution } from '../present/execution.ts';
import { cutTexts, listedChars, waitsOf } from '../read-execution.ts';
import { findAgent, NameParams, type RouteModule, who } from '../route.ts';

const most = 200;

export const workQueue: RouteModule = (deps) => async (app) => {
  const live = (agentId: string) =>
    deps.store.read('executions_with_texts', {
      agent_id: agentId,
      status: ['running', 'waiting'],
      limit: most,
      text_chars: listedChars,
    });

  app.get(
    '/api/agents/:name/queue',
    {
      config: { needs: 'read' },
      schema: { tags: ['Work'], summary: 'What waits for an agent, in order, and what it does', params: NameParams },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const [running, queued, occupancy] = await Promise.all([
        live(agent.id),
        deps.store.read('executions_with_texts', {
          agent_id: agent.id,
          status: ['queued'],
          limit: most,
          text_chars: listedChars,
        }),
        deps.store.read('occupancy', { limits: deps.claimLimits() }),
      ]);
      const waits = await waitsOf(deps, queued);
      const place = (id: string) => waits[id]?.position ?? Number.MAX_SAFE_INTEGER;
      queued.sort((a, b) => place(a.id) - place(b.id) || a.queued_at - b.queued_at || (a.id < b.id ? -1 : 1));
      const current = running.map((row) => presentExecution(cutTexts(row), { oldStatus: true }));
      return {
        agent_name: agent.name,
        is_busy: current.length > 0,
        // The one that has run longest: lists come newest first.
        current_execution: current.at(-1) ?? null,
        running_executions: current,
        queue_length: occupancy.agents.find((a) => a.agent_id === agent.id)?.queued ?? queued.length,
        queued_executions: queued.map((row) => presentExecution(cutTexts(row), { wait: waits[row.id] ?? null })),
      };
    },
  );

  app.post(
    '/api/agents/:name/queue/clear',
    {
      config: { needs: 'operate' },
      schema: { tags: ['Work'], summary: 'Cancel everything that waits for an agent', params: NameParams },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const principal = who(request);
      const { cancelled } = await commit(deps, 'clear_queue', { agent_id: agent.id, by: principalScope(principal) });
      await audit(deps, principal, 'queue.clear', agent.name, { cancelled });
      return { status: 'cleared', agent: agent.name, agent_name: agent.name, cleared_count: cancelled, cancelled };
    },
  );

  app.post(
    '/api/agents/:name/queue/release',
    {
      config: { needs: 'operate' },
      schema: { tags: ['Work'], summary: 'Changes nothing: slots follow rows', params: NameParams },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      return {
        status: 'unchanged',
        agent: agent.name,
        agent_name: agent.name,
        was_running: (await live(agent.id)).length > 0,
        warning:
          'Nothing was reset: a slot is free as soon as its execution ends. To end one: POST …/executions/ID/terminate.',
      };
    },
  );
};
