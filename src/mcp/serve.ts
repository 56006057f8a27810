/**
 * One POST to /mcp, answered by the official SDK: streamable HTTP, no session. A server and a transport of its own for each request,
 * closed with it, so that any server process can answer any request and a restart loses none. Tells a waiting client every 10 s
 * that it is still there. Knows no agent and no queue: tools do.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  type Tool as ListedTool,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { refuse } from '../contract/errors.ts';
import type { Principal } from '../contract/principal.ts';
import { version } from '../contract/version.ts';
import type { Deps } from '../flow/deps.ts';
import { fleetTools } from './fleet-tools.ts';
import { LineCut } from './line-cut.ts';
import { type AskRoute, refused, type Tool, type ToolAnswer } from './tool.ts';
import { workTools } from './work-tools.ts';

/** A client's idle limit is 300 s by default and may be set to 30; proxies in between cut sooner. */
const progressMs = 10_000;
/** Callers that are not executions get a receipt after this: shorter than any client's limit for one call. */
const receiptMs = 20_000;

/** Codex shows these tools to its model only when it searches for them, and this line is all it sees until then. */
const instructions = 'The other agents of this fleet and the person who operates it: give work, wait for it, ask.';

export const tools: readonly Tool[] = [...fleetTools, ...workTools];
const byName = new Map(tools.map((t) => [t.name, t]));
const listed: readonly ListedTool[] = tools.map((t) => ({
  name: t.name,
  description: t.description,
  inputSchema: z.toJSONSchema(t.input, { io: 'input' }) as ListedTool['inputSchema'],
  annotations: { readOnlyHint: t.parallel },
}));

export interface McpRequest {
  principal: Principal;
  ask: AskRoute;
  signal: AbortSignal;
  callId: string | null;
  /** After each tool, answered or not. */
  settled(): Promise<void>;
}

export const serveMcp = async (
  deps: Deps,
  request: McpRequest,
  wire: { request: IncomingMessage; response: ServerResponse; body: unknown },
): Promise<void> => {
  const { clock, log } = deps.kernel;
  const server = new Server({ name: 'drover', version }, { capabilities: { tools: {} }, instructions });
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  wire.response.once('close', () => {
    void transport.close();
    void server.close();
  });

  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...listed] }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = byName.get(params.name);
    if (tool === undefined)
      return presented(refused(refuse('not_found', `There is no tool "${params.name.slice(0, 80)}".`)));
    const input = tool.input.safeParse(params.arguments ?? {});
    if (!input.success) return presented(refused(invalid(input.error)));

    let words: () => Promise<string> = async () => `${params.name} is still waiting`;
    const token = extra._meta?.progressToken;
    const since = clock.steady();
    let stop = () => {};
    const tell = async () => {
      const progress = Math.round((clock.steady() - since) / 1000);
      const message = await words();
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken: token!, progress, message },
      });
    };
    const later = () => {
      stop = clock.after(progressMs, () => {
        // A line that is gone ends the wait by its signal, not here.
        tell().catch(() => {});
        later();
      });
    };
    if (token !== undefined) later();
    try {
      return presented(
        await tool.run(input.data as never, {
          deps,
          principal: request.principal,
          ask: request.ask,
          wait: {
            ms: request.principal.kind === 'execution' ? null : receiptMs,
            signal: request.signal,
            callId: request.principal.kind === 'execution' ? request.callId : null,
          },
          waitsFor: (w) => {
            words = w;
          },
        }),
      );
    } catch (error) {
      if (error instanceof LineCut) {
        wire.response.destroy();
        return { content: [] };
      }
      log.error('a tool failed', { tool: params.name, error });
      return presented(refused(refuse('internal', 'The server failed at this; its log has the reason.')));
    } finally {
      stop();
      await request.settled();
    }
  });

  await server.connect(transport);
  await transport.handleRequest(wire.request, wire.response, wire.body);
};

const invalid = (error: z.ZodError) => {
  const details = error.issues.map((i) => ({ field: i.path.join('.') || 'arguments', problem: i.message }));
  return refuse('invalid', details.map((d) => `${d.field}: ${d.problem}`).join('; '), { details });
};

const presented = ({ ok, value }: ToolAnswer) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(value) }],
  ...(typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) && {
      structuredContent: value as Record<string, unknown>,
    }),
  ...(!ok && { isError: true }),
});
