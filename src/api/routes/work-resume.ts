/**
 * Going on with what has ended: a new execution of the same agent in the session of the old one, so that the CLI's conversation
 * and the kept tree are there again, on whichever credential is lent now. The old row stays as it ended. Enters by `submit`, like all
 * work.
 */
import { z } from 'zod';
import { isRefusal, refuse } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { isTerminal } from '../../contract/status.ts';
import type { Deps } from '../../flow/deps.ts';
import { submit } from '../../flow/submit.ts';
import { hashOf, idempotencyKey } from '../asked-for.ts';
import { presentAccepted } from '../present/answer.ts';
import type { FullExecution } from '../present/execution.ts';
import { withWireDetail } from '../present/refusals.ts';
import type { ToolCall } from '../present/transcript.ts';
import { findExecution } from '../read-execution.ts';
import { readTools } from '../read-log.ts';
import { IdParams, Refused, type RouteModule, who } from '../route.ts';

const ResumeBody = z
  .object({
    message: z.string().nullish(),
    timeout_seconds: z.number().int().min(limits.timeoutS.min).max(limits.timeoutS.max).nullish(),
  })
  .default({});

/** Said to a session that knows what it was doing. */
const goOn = 'You were interrupted. Look at what is already done, and go on where you stopped.';

/** The CLI writes its session a little behind what it tells: the last results may be known to us alone. */
const lastCalls = 5;
const shown = 300;
const inShort = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, shown);

const goOnAfter = (calls: readonly ToolCall[]): string => {
  const done = calls.filter((c) => c.success !== null).slice(-lastCalls);
  if (done.length === 0) return goOn;
  const lines = done.map((c) => `- ${c.tool} ${inShort(c.input)} -> ${inShort(c.output ?? '')}`);
  return `${goOn} These calls of tools came to their end before; do not make them again:\n${lines.join('\n')}`;
};

/** What the session is told when nobody says anything else: one that the CLI does not know yet hears the task again. */
const messageFor = async (deps: Deps, row: FullExecution): Promise<string> => {
  const no = (why: string) => new Refused(refuse('conflict', `Execution ${row.id} ${why}`));
  if (!isTerminal(row.status)) throw no('has not ended: wait for it, or stop it first.');
  const agent = await deps.store.read('agent_by_name', { name: row.agent_name });
  if (agent?.id !== row.agent_id) throw no(`was of an earlier agent ${row.agent_name}; it is no more.`);
  const session = row.session_id === null ? null : await deps.store.read('session', { id: row.session_id });
  if (session === null)
    throw no('left nothing to go on from: no session and no kept tree. Give the task anew: drover run.');
  return session.cli_session_id === null ? row.message : goOnAfter(await readTools(deps, row.id));
};

export const workResume: RouteModule = (deps) => async (app) => {
  app.post(
    '/api/executions/:id/resume',
    {
      config: { needs: 'submit' },
      schema: {
        tags: ['Work'],
        summary: 'Go on where an ended execution stopped: its session, its kept tree, a new id',
        params: IdParams,
        body: ResumeBody,
      },
    },
    async (request, reply) => {
      const principal = who(request);
      const row = await findExecution(deps, request.params.id, principal);
      const fallback = await messageFor(deps, row);
      const key = idempotencyKey(request);
      const message = request.body.message ?? fallback;
      const given = await submit(
        deps,
        {
          kind: 'task',
          agent_name: row.agent_name,
          message,
          triggered_by: request.headers['x-drover-client'] === 'cli' ? 'cli' : request.byCookie ? 'manual' : 'api',
          class: 'interactive',
          durable: true,
          options: {},
          timeout_s: request.body.timeout_seconds ?? null,
          session_id: null,
          resume_session_id: row.session_id,
          parent_execution_id: null,
          idempotency_key: key,
          max_retries: null,
        },
        principal,
        key === null ? null : hashOf('resume', row.id, request.body),
      );
      if (isRefusal(given)) throw new Refused(withWireDetail(given, row.agent_name));
      const { execution, replay } = given;
      reply.header('x-execution-id', execution.id).header('location', `/api/executions/${execution.id}`).code(202);
      if (replay) reply.header('x-idempotent-replay', 'true');
      return { ...presentAccepted(execution, message, { position: given.queue_position }), resumes: row.id };
    },
  );
};
