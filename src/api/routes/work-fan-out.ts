/**
 * A batch of tasks for one agent: put into the queue as a whole, polled or waited for by its id, cancelled as a whole. Its
 * executions are ordinary ones and are found wherever executions are. Answers at once unless the client asks for a wait.
 */
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { isRefusal, refuse } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { principalScope } from '../../contract/principal.ts';
import { cleanText } from '../../contract/text.ts';
import { giveMany, type Waited, waitFor } from '../../flow/call.ts';
import { cancelFanOut } from '../../flow/cancel.ts';
import { audit } from '../../record/audit.ts';
import { hashOf, idempotencyKey, preferredWaitMs } from '../asked-for.ts';
import type { OpenRequests } from '../open-requests.ts';
import { presentFanOut } from '../present/fan-out.ts';
import { withWireDetail } from '../present/refusals.ts';
import { type ApiDeps, findAgent, NameParams, orNotFound, orRefuse, Refused, type RouteModule, who } from '../route.ts';

/** How many are sent is judged after the body, so that too many are refused in words an agent can act on. */
const FanOutBody = z.object({
  tasks: z.array(z.object({ id: z.string().min(1).max(200), message: z.string() })),
  max_concurrency: z.number().int().min(1).max(limits.fanOutTasks.max).default(limits.fanOutTasks.default),
  timeout_seconds: z.number().int().min(limits.timeoutS.min).max(limits.timeoutS.max).nullish(),
});
const Params = NameParams.extend({ id: z.string().max(300) });
const tags = ['Work'];

export const workFanOut =
  (open: OpenRequests): RouteModule =>
  (deps) =>
  async (app) => {
    app.post(
      '/api/agents/:name/fan-out',
      {
        config: { needs: 'submit', streams: true },
        schema: { tags, summary: 'Give an agent many tasks at once', params: NameParams, body: FanOutBody },
      },
      async (request, reply) => {
        const { name } = request.params;
        const { tasks, max_concurrency, timeout_seconds } = request.body;
        const key = idempotencyKey(request);
        const principal = who(request);
        const given = await giveMany(
          deps,
          { agentName: name, tasks, maxConcurrency: max_concurrency, timeoutS: timeout_seconds ?? null, key },
          { principal, bodyHash: key === null ? null : hashOf('fan_out', name, request.body) },
          { ms: preferredWaitMs(request) ?? 0, signal: open.signalOf(reply), callId: null },
        );
        if (isRefusal(given)) throw new Refused(withWireDetail(given, name));
        if (given.replay) reply.header('x-idempotent-replay', 'true');
        reply.header('location', `/api/agents/${given.fan_out.agent_name}/fan-out/${given.fan_out.id}`);
        return answered(deps, reply, given.fan_out.id, given.waited, principal.kind === 'execution');
      },
    );

    const found = async (request: Parameters<typeof findAgent>[1] & { params: { id: string } }) => {
      const agent = await findAgent(deps, request);
      const all = orNotFound(await deps.store.read('fan_out', { id: request.params.id }), 'fan-out');
      if (all.fan_out.agent_id !== agent.id)
        throw new Refused(refuse('not_found', 'There is no fan-out of that name or id.'));
      return all;
    };

    app.get(
      '/api/agents/:name/fan-out/:id',
      {
        config: { needs: 'read', streams: true },
        schema: { tags, summary: 'A batch and each of its executions; Prefer: wait=N waits for all', params: Params },
      },
      async (request, reply) => {
        const { fan_out, items } = await found(request);
        const principal = who(request);
        const ms = preferredWaitMs(request) ?? 0;
        const ids = items.map((i) => i.execution.id);
        const waited =
          ms === 0
            ? 'ended'
            : orRefuse(await waitFor(deps, principal, ids, { ms, signal: open.signalOf(reply), callId: null }));
        return answered(deps, reply, fan_out.id, waited, principal.kind === 'execution', 200);
      },
    );

    app.post(
      '/api/agents/:name/fan-out/:id/cancel',
      {
        config: { needs: 'submit' },
        schema: {
          tags,
          summary: 'Stop what is left of a batch; what has ended is kept',
          params: Params,
          body: z.object({ reason: z.string().max(2_000).nullish() }),
        },
      },
      async (request) => {
        const { fan_out } = await found(request);
        const principal = who(request);
        const own = principal.kind === 'execution' && fan_out.caller_execution_id === principal.executionId;
        if (principal.kind !== 'user' && !own)
          throw new Refused(refuse('forbidden', 'An agent may stop only the batches it has asked for itself.'));
        const reason = request.body.reason == null ? null : cleanText(request.body.reason);
        const { cancelled } = orNotFound(
          await cancelFanOut(deps, fan_out.id, principalScope(principal), reason),
          'fan-out',
        );
        if (cancelled > 0) await audit(deps, principal, 'fan_out.cancel', fan_out.id, { cancelled, reason });
        return { cancelled, ...presentFanOut(await found(request)) };
      },
    );
  };

const answered = async (
  deps: ApiDeps,
  reply: FastifyReply,
  id: string,
  waited: Waited,
  byExecution: boolean,
  code?: number,
) => {
  // See work-submit.ts: its row may still wait.
  if (waited === 'left' && byExecution) return void reply.hijack().raw.destroy();
  const body = presentFanOut(orNotFound(await deps.store.read('fan_out', { id }), 'fan-out'));
  reply.code(code ?? (body.status === 'running' ? 202 : 200));
  return body;
};
