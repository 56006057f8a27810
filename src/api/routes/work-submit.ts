/**
 * The two doors by which HTTP gives work to an agent: chat and task, one handler. Parse → submit → wait for the row → present.
 * The row exists before anything is waited for, so a client that goes away loses nothing, and each answer carries its id. Holds
 * no call to an agent: what it waits for is the row's ending (R1). An execution that waits here yields (flow/call.ts).
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isRefusal, refuse } from '../../contract/errors.ts';
import type { ExecutionRequest, Trigger } from '../../contract/execution.ts';
import { limits } from '../../contract/limits.ts';
import { cleanName } from '../../contract/names.ts';
import { type Given, give as giveWork } from '../../flow/call.ts';
import { hashOf, idempotencyKey, preferredWaitMs } from '../asked-for.ts';
import { presentError } from '../errors.ts';
import type { OpenRequests } from '../open-requests.ts';
import { presentAccepted, presentAnswer, presentEnding } from '../present/answer.ts';
import { presentWait } from '../present/execution.ts';
import { withWireDetail } from '../present/refusals.ts';
import { findExecution, waitsOf } from '../read-execution.ts';
import { readLog } from '../read-log.ts';
import { type ApiDeps, findAgent, NameParams, orNotFound, Refused, type RouteModule, who } from '../route.ts';

const timeout = z.number().int().min(limits.timeoutS.min).max(limits.timeoutS.max);

const WorkBody = z.object({
  message: z.string(),
  model: z.string().max(200).nullish(),
  allowed_tools: z.array(z.string().max(500)).max(200).nullish(),
  system_prompt: z.string().max(100_000).nullish(),
  max_turns: z.number().int().min(1).max(10_000).nullish(),
  timeout_seconds: timeout.nullish(),
  /** `batch` gives way to `interactive`. Left out: interactive when somebody waits for the answer, else batch. */
  priority: z.enum(['interactive', 'batch', 'high', 'normal', 'low']).nullish(),
  parent_execution_id: z.string().max(100).nullish(),
  max_retries: z.number().int().min(0).max(10).nullish(),
  async_mode: z.boolean().nullish(),
});
const ChatBody = WorkBody.extend({
  /** Id of a chat session of the agent; left out: its main session when that is idle, else a fresh one. */
  session: z.string().max(100).nullish(),
  /** As `session`: what an earlier answer called it. */
  session_id: z.string().max(100).nullish(),
  /** Go on from an execution, a task too: its session of the CLI and its kept tree. */
  continue_execution_id: z.string().max(100).nullish(),
});
const TaskBody = WorkBody.extend({ resume_session_id: z.string().max(200).nullish() });
type Body = z.infer<typeof ChatBody> & z.infer<typeof TaskBody>;

/** A transcript in an answer is for reading along; the whole one is under the id. */
const logBound = { entries: 1_000, bytes: 2 * 1024 * 1024 };

export const workSubmit =
  (open: OpenRequests): RouteModule =>
  (deps) =>
  async (app) => {
    const route = (kind: 'chat' | 'task', body: typeof ChatBody | typeof TaskBody, summary: string) =>
      app.post(
        `/api/agents/:name/${kind}`,
        {
          config: { needs: 'submit', streams: true },
          schema: { tags: ['Work'], summary, params: NameParams, body },
        },
        (request, reply) => give(deps, open, kind, request as WorkCall, reply),
      );
    route('chat', ChatBody, 'Say something to an agent and wait for its answer; the session goes on');
    route('task', TaskBody, 'Give an agent a task in a session of its own; async_mode answers with the id at once');
  };

type WorkCall = FastifyRequest<{ Params: { name: string }; Body: Body }>;

const give = async (
  deps: ApiDeps,
  open: OpenRequests,
  kind: 'chat' | 'task',
  request: WorkCall,
  reply: FastifyReply,
) => {
  const { body } = request;
  const here = open.opened(reply);
  const key = idempotencyKey(request);
  const principal = who(request);
  const asked = executionRequest(kind, request, key, await continued(deps, request));
  const waitMs = body.async_mode === true ? 0 : preferredWaitMs(request);
  const work = {
    request: asked,
    principal,
    bodyHash: key === null ? null : hashOf(kind, cleanName(asked.agent_name), body),
  };
  const answer = await giveWork(deps, work, {
    ms: waitMs,
    callId: null,
    resets: 'answered',
    get signal() {
      return here.signal;
    },
  });
  if (isRefusal(answer)) throw new Refused(withWireDetail(answer, asked.agent_name));
  // Its row may still wait: an answer now would set its process going without its slots. It sends its key again.
  if (answer.waited === 'left' && principal.kind === 'execution') return void reply.hijack().raw.destroy();
  return present(deps, request, reply, { asked, answer, waitMs });
};

const present = async (
  deps: ApiDeps,
  request: WorkCall,
  reply: FastifyReply,
  { asked, answer, waitMs }: { asked: ExecutionRequest; answer: Given; waitMs: number | null },
) => {
  const { execution, replay } = answer;
  const queued = { position: answer.queue_position };
  reply.header('x-execution-id', execution.id);
  if (replay) reply.header('x-idempotent-replay', 'true');
  const accepted = () => {
    reply.code(202).header('location', `/api/executions/${execution.id}`);
    return presentAccepted(execution, asked.message, queued);
  };
  if (request.body.async_mode === true) return accepted();
  if (waitMs !== null) reply.header('preference-applied', `wait=${waitMs / 1000}`);
  if (answer.waited !== 'ended') {
    const why = waitMs === null ? (await waitsOf(deps, [execution]))[execution.id] : undefined;
    return why === undefined ? accepted() : { ...accepted(), status: 'queued' as const, wait: presentWait(why) };
  }
  const row = orNotFound(await deps.store.read('execution', { id: execution.id }), 'execution');
  if (row.status !== 'success') return presentError(reply, presentEnding(row, deps.kernel.clock.now()));
  const { log } = await readLog(deps, row.id, logBound);
  return presentAnswer(row, log, queued);
};

/** The session of the execution that the chat goes on from. */
const continued = async (deps: ApiDeps, request: WorkCall): Promise<string | null> => {
  const id = request.body.continue_execution_id;
  if (id == null) return null;
  const agent = await findAgent(deps, request);
  const row = await findExecution(deps, id, who(request), agent);
  const session = row.session_id === null ? null : await deps.store.read('session', { id: row.session_id });
  if (session === null && !(row.kind === 'chat' || row.completed_at === null))
    throw new Refused(
      refuse('session_not_found', `Execution ${id} left no session to go on from. Say what is needed in a new chat.`),
    );
  return row.session_id;
};

const executionRequest = (
  kind: 'chat' | 'task',
  request: WorkCall,
  key: string | null,
  continuedSession: string | null,
): ExecutionRequest => {
  const { body } = request;
  const nobodyWaits = body.async_mode === true;
  return {
    kind,
    agent_name: request.params.name,
    message: body.message,
    triggered_by: triggerOf(request),
    class: body.priority == null ? (nobodyWaits ? 'batch' : 'interactive') : classOf[body.priority],
    durable: nobodyWaits,
    options: {
      model: body.model ?? null,
      allowed_tools: body.allowed_tools ?? null,
      system_prompt: body.system_prompt ?? null,
      max_turns: body.max_turns ?? null,
    },
    timeout_s: body.timeout_seconds ?? null,
    session_id: body.session ?? body.session_id ?? continuedSession,
    resume_session_id: body.resume_session_id ?? null,
    parent_execution_id: body.parent_execution_id ?? null,
    idempotency_key: key,
    max_retries: body.max_retries ?? null,
  };
};

const classOf = {
  interactive: 'interactive',
  high: 'interactive',
  normal: 'interactive',
  batch: 'batch',
  low: 'batch',
} as const;

/** For people who read lists: what it came through. Nothing is decided by it; an agent's own token outranks it. */
const triggerOf = (request: FastifyRequest): Trigger => {
  const said = request.headers['x-drover-client'];
  if (said === 'cli' || said === 'mcp') return said;
  if (request.headers['x-via-mcp'] !== undefined) return 'mcp';
  return request.byCookie ? 'manual' : 'api';
};
