/**
 * The HTTP edge of the MCP server: who asks, in whose name its tools ask the routes, and what a broken line means. The SDK is loaded
 * with the first request: an installation without MCP clients pays nothing for it.
 */
import { errors, refuse } from '../../contract/errors.ts';
import { callIdHeader } from '../../contract/runner-protocol.ts';
import { giveUp } from '../../flow/call.ts';
import type { AskRoute } from '../../mcp/tool.ts';
import { openRequests } from '../open-requests.ts';
import { Refused, type RouteModule, who } from '../route.ts';
import { bearerOf } from '../secrets.ts';

/** Calls given up before their delivery arrived are remembered, this many. */
const givenUpMost = 1_000;

export const mcpRoutes: RouteModule = (deps) => async (app) => {
  const open = openRequests(app, deps.kernel.clock);
  const givenUp = new Set<string>();

  app.post(
    '/mcp',
    {
      config: { needs: 'read', streams: true },
      schema: { hide: true, summary: 'Model Context Protocol, streamable HTTP' },
    },
    async (request, reply) => {
      const authorization = request.headers.authorization;
      if (bearerOf(authorization) === null) throw new Refused(refuse('unauthorized', errors.unauthorized.hint));
      const principal = who(request);
      const callId = callIdOf(request.headers[callIdHeader]);
      const ask: AskRoute = async (method, url, body) => {
        const headers = { authorization, 'x-drover-client': 'mcp' };
        const answer = await app.inject({ method, url, headers, ...(body === undefined ? {} : { payload: body }) });
        return { status: answer.statusCode, body: answer.body === '' ? null : answer.json() };
      };
      const signal = open.signalOf(reply);
      reply.hijack();
      if (callId !== null && isCancel(request.body)) {
        if (givenUp.size >= givenUpMost) givenUp.delete(givenUp.values().next().value!);
        givenUp.add(callId);
        await giveUp(deps, principal, callId);
      }
      const { serveMcp } = await import('../../mcp/serve.ts');
      await serveMcp(
        deps,
        {
          principal,
          ask,
          signal,
          callId,
          // Its word may have come before the call had been opened.
          settled: async () => {
            if (callId !== null && givenUp.delete(callId)) await giveUp(deps, principal, callId);
          },
        },
        { request: request.raw, response: reply.raw, body: request.body },
      );
    },
  );
  // Without sessions there is nothing to listen to and nothing to delete.
  for (const method of ['GET', 'DELETE'] as const)
    app.route({
      method,
      url: '/mcp',
      config: { needs: 'read' },
      schema: { hide: true },
      handler: async (_request, reply) => {
        reply.header('allow', 'POST');
        throw new Refused(refuse('method_not_allowed', 'This MCP server keeps no sessions: send POST.'));
      },
    });
};

const callIdOf = (header: string | string[] | undefined): string | null => {
  if (header === undefined) return null;
  const id = String(header);
  if (!/^[\w.:-]{1,200}$/.test(id))
    throw new Refused(refuse('invalid', `${callIdHeader} takes 1 to 200 letters, digits, and _ . : -`));
  return id;
};

const isCancel = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && (body as { method?: unknown }).method === 'notifications/cancelled';
