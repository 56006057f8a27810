/**
 * Tools that give work to agents and wait for it. A caller that is an execution blocks, gives its slots up and is answered after
 * its resume; every other caller is answered after a moment at the latest, with a receipt whose id it can wait by. Nothing is
 * lost by going away.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { visibleAgent } from '../admission/visible.ts';
import { isRefusal, refuse } from '../contract/errors.ts';
import type { ExecutionRequest } from '../contract/execution.ts';
import { limits } from '../contract/limits.ts';
import { cleanName } from '../contract/names.ts';
import { give, giveMany, type Wait, waitFor } from '../flow/call.ts';
import { LineCut } from './line-cut.ts';
import { good, refused, said, type Tool, type ToolAnswer, type ToolCall, tool } from './tool.ts';

const timeout_seconds = z
  .number()
  .int()
  .min(limits.timeoutS.min)
  .max(limits.timeoutS.max)
  .optional()
  .describe('How long the other agent may run');
const wait_seconds = z
  .number()
  .min(0)
  .max(limits.timeoutS.max)
  .optional()
  .describe('Wait at most this long for the end; left out: answer with how it stands now');

/** The name under which the call is known: sent again under it, it joins the wait that there is. */
const keyed = (wait: Wait, ...body: unknown[]) =>
  wait.callId === null
    ? { key: null, bodyHash: null }
    : { key: `call:${wait.callId}`, bodyHash: createHash('sha256').update(JSON.stringify(body)).digest('hex') };

const noWait = (call: ToolCall): Wait => ({ ...call.wait, ms: 0 });
const waitAtMost = (call: ToolCall, seconds: number | undefined): Wait => {
  const ms = (seconds ?? 0) * 1000;
  return { ...call.wait, ms: call.wait.ms === null ? ms : Math.min(ms, call.wait.ms) };
};

const receipt = (id: Record<string, string>, how: string) =>
  good({ status: 'queued_timeout', ...id, message: `It goes on. Ask again with ${how} and a wait_seconds.` });

interface ExecutionBody {
  id: string;
  agent_name: string;
  status: string;
  cause: string | null;
  response: string | null;
  error: string | null;
  verdict: { retryable: boolean } | null;
  session_id: string | null;
  cost: number | null;
  duration_ms: number | null;
  wait: unknown;
}
const ending = (e: ExecutionBody) => ({
  execution_id: e.id,
  agent_name: e.agent_name,
  status: e.status,
  response: e.response,
  ...(e.status === 'failed' && { cause: e.cause, error: e.error, retryable: e.verdict?.retryable ?? null }),
  ...(e.wait !== null && { wait: e.wait }),
  session_id: e.session_id,
  cost: e.cost,
  duration_ms: e.duration_ms,
});

/** How an execution stands, by its route; what failed reads as a failure of the call. */
const standing = async (call: ToolCall, id: string): Promise<ToolAnswer> => {
  const told = said(await call.ask('GET', `/api/executions/${encodeURIComponent(id)}`), ending);
  const { status } = told.value as { status?: string };
  return told.ok && (status === 'failed' || status === 'cancelled') ? { ...told, ok: false } : told;
};

/** What an outside client is told in its progress line. */
const progressOf = (call: ToolCall, id: string) => async () => {
  const row = await call.deps.store.read('execution', { id });
  if (row === null) return 'waiting';
  if (row.status !== 'queued') return `${row.agent_name} is ${row.status}`;
  const waits = await call.deps.store.read('waits', { execution_ids: [id], limits: call.deps.claimLimits() });
  const wait = waits[id];
  return `${row.agent_name} is queued${wait === undefined ? '' : `: ${wait.reason}, place ${wait.position}`}`;
};

const request = (
  i: { agent_name: string; message: string; model?: string; session?: string; timeout_seconds?: number },
  how: { kind: 'chat' | 'task'; durable: boolean; key: string | null },
): ExecutionRequest => ({
  kind: how.kind,
  agent_name: i.agent_name,
  message: i.message,
  triggered_by: 'mcp',
  class: how.durable ? 'batch' : 'interactive',
  durable: how.durable,
  options: { model: i.model ?? null },
  timeout_s: i.timeout_seconds ?? null,
  session_id: i.session ?? null,
  resume_session_id: null,
  parent_execution_id: null,
  idempotency_key: how.key,
  max_retries: null,
});

const chatWithAgent = tool({
  name: 'chat_with_agent',
  description:
    'Ask another agent and wait for its answer. It keeps its memory of your conversation between calls; with parallel ' +
    'it starts afresh, so that several calls to one agent run side by side. With async you get an execution_id at once: ' +
    'collect the answer with get_execution_result.',
  input: z.object({
    agent_name: z.string().min(1).max(300),
    message: z.string().min(1),
    parallel: z.boolean().optional().describe('A conversation of its own, forgotten afterwards'),
    async: z.boolean().optional().describe('Do not wait'),
    timeout_seconds,
    model: z.string().max(200).optional(),
    session: z.string().max(100).optional().describe('Id of a conversation to go on with'),
  }),
  parallel: true,
  async run(i, call) {
    const wait = i.async ? noWait(call) : call.wait;
    const { key, bodyHash } = keyed(call.wait, 'chat', i);
    const kind = i.parallel && i.session === undefined ? 'task' : 'chat';
    const given = await give(
      call.deps,
      { request: request(i, { kind, durable: i.async === true, key }), principal: call.principal, bodyHash },
      wait,
    );
    if (isRefusal(given)) return refused(given);
    const { id } = given.execution;
    if (i.async)
      return good({ status: 'accepted', execution_id: id, message: 'Collect it with get_execution_result.' });
    if (given.waited === 'ended') return standing(call, id);
    if (given.waited === 'left' && call.principal.kind === 'execution') throw new LineCut();
    return receipt({ execution_id: id }, 'get_execution_result');
  },
});

const getExecutionResult = tool({
  name: 'get_execution_result',
  description: 'How an execution stands or how it ended, by its id. wait_seconds waits for the end.',
  input: z.object({ execution_id: z.string().min(1).max(300), wait_seconds }),
  parallel: true,
  async run(i, call) {
    const now = await standing(call, i.execution_id);
    if ((now.value as { error?: { code?: string } }).error?.code === 'not_found' || !i.wait_seconds) return now;
    call.waitsFor(progressOf(call, i.execution_id));
    const waited = await waitFor(call.deps, call.principal, [i.execution_id], waitAtMost(call, i.wait_seconds));
    if (isRefusal(waited)) return refused(waited);
    if (waited === 'left' && call.principal.kind === 'execution') throw new LineCut();
    return standing(call, i.execution_id);
  },
});

const fanOut = tool({
  name: 'fan_out',
  description:
    `Give one agent up to ${limits.fanOutTasks.max} tasks at once and wait for all of them; max_concurrency says how many ` +
    'may run side by side. With async you get a fan_out_id at once: collect with get_fan_out_result.',
  input: z.object({
    agent_name: z.string().min(1).max(300),
    tasks: z.array(z.object({ id: z.string().min(1).max(200), message: z.string().min(1) })),
    max_concurrency: z.number().int().min(1).max(limits.fanOutTasks.max).optional(),
    timeout_seconds,
    async: z.boolean().optional().describe('Do not wait'),
  }),
  parallel: true,
  async run(i, call) {
    const { key, bodyHash } = keyed(call.wait, 'fan_out', i);
    const given = await giveMany(
      call.deps,
      {
        agentName: i.agent_name,
        tasks: i.tasks,
        maxConcurrency: i.max_concurrency ?? limits.fanOutTasks.default,
        timeoutS: i.timeout_seconds ?? null,
        key,
      },
      { principal: call.principal, bodyHash },
      i.async ? noWait(call) : call.wait,
    );
    if (isRefusal(given)) return refused(given);
    const { id } = given.fan_out;
    if (i.async) return good({ status: 'accepted', fan_out_id: id, message: 'Collect it with get_fan_out_result.' });
    if (given.waited === 'ended') return batch(call, id);
    if (given.waited === 'left' && call.principal.kind === 'execution') throw new LineCut();
    return receipt({ fan_out_id: id }, 'get_fan_out_result');
  },
});

const batch = async (call: ToolCall, id: string): Promise<ToolAnswer> => {
  const found = await call.deps.store.read('fan_out', { id });
  const agent = found && (await visibleAgent(call.deps.store, found.fan_out.agent_name, call.principal));
  if (!agent || agent.id !== found.fan_out.agent_id)
    return refused(refuse('not_found', `There is no fan-out "${cleanName(id)}".`));
  return said(await call.ask('GET', `/api/agents/${encodeURIComponent(agent.name)}/fan-out/${encodeURIComponent(id)}`));
};

const getFanOutResult = tool({
  name: 'get_fan_out_result',
  description: 'How a fan-out stands: every task with its answer so far. wait_seconds waits for all of them.',
  input: z.object({ fan_out_id: z.string().min(1).max(300), wait_seconds }),
  parallel: true,
  async run(i, call) {
    const now = await batch(call, i.fan_out_id);
    if (!now.ok || !i.wait_seconds) return now;
    const ids = (now.value as { tasks: { execution_id: string }[] }).tasks.map((t) => t.execution_id);
    const waited = await waitFor(call.deps, call.principal, ids, waitAtMost(call, i.wait_seconds));
    if (isRefusal(waited)) return refused(waited);
    if (waited === 'left' && call.principal.kind === 'execution') throw new LineCut();
    return batch(call, i.fan_out_id);
  },
});

export const workTools: readonly Tool[] = [chatWithAgent, getExecutionResult, fanOut, getFanOutResult];
