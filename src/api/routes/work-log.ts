/** The log of an execution: whole up to a bound, or as a stream that replays from the start and follows until the end. */
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Principal } from '../../contract/principal.ts';
import { isTerminal } from '../../contract/status.ts';
import { waitFor } from '../../flow/call.ts';
import type { Tails } from '../../record/tails.ts';
import type { OpenRequests } from '../open-requests.ts';
import { type Asked, findAsked } from '../read-execution.ts';
import { followLog, readLog } from '../read-log.ts';
import { type ApiDeps, IdParams, orRefuse, type RouteModule, who } from '../route.ts';
import { dataFrame, openSse, type Sse } from '../sse.ts';
import { AgentExecutionParams } from './work-params.ts';

const LogQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .default(5_000)
    .transform((n) => Math.min(n, 20_000)),
});
/** A reader takes a silent line for dead after 45 s. */
const beatMs = 15_000;
/** One answer; a longer log is read by its stream, which holds a page at a time. */
const logBytes = 16 * 1024 * 1024;

export const workLog =
  (open: OpenRequests, tails: Tails): RouteModule =>
  (deps) =>
  async (app) => {
    const log = async (request: Asked & { query: z.infer<typeof LogQuery> }) => {
      const row = await findAsked(deps, request);
      return {
        execution_id: row.id,
        ...(await readLog(deps, row.id, { entries: request.query.limit, bytes: logBytes })),
      };
    };
    const logSchema = { tags: ['Work'], summary: 'The log of an execution, from its start', querystring: LogQuery };
    app.get('/api/executions/:id/log', { config: { needs: 'read' }, schema: { ...logSchema, params: IdParams } }, log);
    app.get(
      '/api/agents/:name/executions/:id/log',
      { config: { needs: 'read' }, schema: { ...logSchema, params: AgentExecutionParams } },
      log,
    );

    const stream = async (request: Asked, reply: FastifyReply) => {
      const row = await findAsked(deps, request);
      const gone = open.signalOf(reply);
      let sse: Sse | null = null;
      const opened = () => {
        sse ??= openSse(reply);
        return sse;
      };
      const asked = { deps, principal: who(request), id: row.id };
      const over = isTerminal(row.status) || (await yieldFor(asked, gone, opened));
      await replay(row.id, over, gone, opened());
    };
    const replay = async (id: string, over: boolean, gone: AbortSignal, sse: Sse) => {
      try {
        for await (const entries of followLog(deps, tails, id, over, gone)) {
          if (
            !sse.write(entries.length === 0 ? ': beat\n\n' : entries.map(dataFrame).join('')) &&
            !(await sse.drained())
          )
            return;
        }
        // A line that is cut by a closing server says nothing: the client comes again and goes on.
        if (!gone.aborted) sse.write(dataFrame({ type: 'stream_end' }));
      } catch (error) {
        deps.kernel.log.error('a transcript stream was cut', { execution: id, error });
      } finally {
        sse.end();
      }
    };
    const streamSchema = {
      tags: ['Work'],
      summary: 'The log as server-sent events: replay, then follow; ends with {"type":"stream_end"}',
    };
    const streams = { needs: 'read', streams: true } as const;
    app.get('/api/executions/:id/stream', { config: streams, schema: { ...streamSchema, params: IdParams } }, stream);
    app.get(
      '/api/agents/:name/executions/:id/stream',
      { config: streams, schema: { ...streamSchema, params: AgentExecutionParams } },
      stream,
    );
  };

/**
 * An execution that follows another until its end waits for it, and a wait of an execution is a yield (R17): holding its slots it
 * could follow a row that needs just those. So it gives them up first, and reads the whole log after its resume. Its line is
 * kept warm meanwhile; going away ends the wait and nothing else.
 */
const yieldFor = async (
  { deps, principal, id }: { deps: ApiDeps; principal: Principal; id: string },
  signal: AbortSignal,
  opened: () => Sse,
): Promise<boolean> => {
  if (principal.kind !== 'execution' || principal.executionId === id) return false;
  const waits = waitFor(deps, principal, [id], { ms: null, signal, callId: null, leaves: 'goes_on' });
  for (;;) {
    let cancel = () => {};
    const beat = new Promise<'beat'>((resolve) => {
      cancel = deps.kernel.clock.after(beatMs, () => resolve('beat'));
    });
    const first = await Promise.race([waits, beat]);
    cancel();
    if (first !== 'beat') return orRefuse(first) === 'ended';
    opened().write(': beat\n\n');
  }
};
