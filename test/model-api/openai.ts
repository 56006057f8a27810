/**
 * A scripted provider that the real Codex CLI accepts as its Responses API (`OPENAI_BASE_URL` of the agent, SSE), and as the
 * token endpoint of a ChatGPT login (`CODEX_REFRESH_TOKEN_URL_OVERRIDE`). Markers as in server.ts; its modes:
 *
 *   ok text=…              streams the text            memory             says how many turns it was shown
 *   tool path=… content=…  asks for a patch            bash command=…     asks for a command
 *   mcp tool=… [times=…] … asks for that tool of an MCP server (SERVER__TOOL) with the other arguments, then says what it was told
 *   slow pieces=… ms=…     streams piece by piece      cut                breaks the stream off
 *   vast mb=…              says that many megabytes at once
 *   hang                   never answers               page               an intermediary's HTML instead of an answer
 *   401 limit plan tpm quota 500 503 context model     fail as the real API does; `limit in_s=…` says when it resets
 *   failed code=… message=…  begins to stream and fails there
 *   any failing mode with turns=N spends N turns on `echo` first.
 */
import type http from 'node:http';
import { page } from './answer.ts';
import { argumentsOf, type Message, readScript, type Script } from './marker.ts';
import { json, pause, type Scripted, startScripted } from './scripted.ts';

interface OpenAiRequest {
  path: string;
  bearer: string | null;
  account: string | null;
  mode: string;
  model: string | null;
  /** Input items as sent: instructions and conversation. */
  input: Item[];
}
interface Item {
  type?: string;
  role?: string;
  content?: { type: string; text?: string }[];
  [more: string]: unknown;
}
export interface OpenAiApi extends Scripted<OpenAiRequest> {
  /** Bodies of the refreshes of a login. */
  refreshes: Record<string, unknown>[];
  /** What a refresh is answered with. */
  refresh: { status: number; body: unknown };
}

/** The CLI's own words in the role of the user. */
const added = /^<(environment_context|user_instructions|skills_instructions|turn_aborted)>|^# AGENTS\.md instructions/;

const textOfOutput = (output: unknown): string =>
  typeof output === 'string'
    ? output
    : Array.isArray(output)
      ? output.map((part: { text?: string }) => part.text ?? '').join('')
      : '';

const messagesOf = (input: Item[]): Message[] =>
  input.flatMap((item): Message[] => {
    if (item.type?.endsWith('_output'))
      return [{ role: 'user', content: [{ type: 'tool_result', content: textOfOutput(item.output) }] }];
    if (item.role !== 'user') return [];
    const own = (item.content ?? []).filter((c) => !added.test(c.text ?? ''));
    return own.length === 0 ? [] : [{ role: 'user', content: own.map((c) => ({ type: 'text', text: c.text })) }];
  });

const patch = (path: string, content: string) =>
  `*** Begin Patch\n*** Add File: ${path}\n${content
    .split('\n')
    .map((line) => `+${line}`)
    .join('\n')}\n*** End Patch\n`;

let count = 0;

/** Its tools are named by server and name; the newer models must search for them, and may call them all the same. */
const mcpCalls = (script: Script): Item[] => {
  const [, namespace, name] = /^(.*)__([^_].*)$/.exec(script.args.tool ?? 'mcp__drover__list_agents')!;
  return Array.from({ length: Number(script.args.times ?? 1) }, () => ({
    type: 'function_call',
    call_id: `call_${++count}`,
    namespace,
    name,
    arguments: JSON.stringify(argumentsOf(script)),
  }));
};

const toolFor = ({ mode, args, step }: Script): Item | null => {
  const call_id = `call_${++count}`;
  const shell = (cmd: string): Item => ({
    type: 'function_call',
    call_id,
    name: 'exec_command',
    arguments: JSON.stringify({ cmd }),
  });
  const turns = Number(args.turns ?? 0);
  if (step < turns) return shell(`echo turn ${step + 1}`);
  if (step > turns) return null;
  if (mode === 'bash') return shell(args.command ?? 'true');
  if (mode !== 'tool') return null;
  const input = patch(args.path ?? 'hello.txt', args.content ?? 'hello');
  return { type: 'custom_tool_call', call_id, name: 'apply_patch', input };
};

const usageOf = (args: Record<string, string>) => {
  const input_tokens = Number(args.input_tokens ?? 11);
  const output_tokens = Number(args.output_tokens ?? 7);
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: Number(args.cached_tokens ?? 2) },
    output_tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input_tokens + output_tokens,
  };
};

const stream = (res: http.ServerResponse) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  return (type: string, data: Record<string, unknown>) =>
    res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
};

const finish = (res: http.ServerResponse, args: Record<string, string>, ...items: Item[]) => {
  const send = stream(res);
  send('response.created', { response: { id: `resp_${++count}` } });
  for (const [output_index, item] of items.entries()) send('response.output_item.done', { output_index, item });
  send('response.completed', { response: { id: `resp_${count}`, usage: usageOf(args) } });
  res.end();
};

const said = (text: string): Item => ({
  type: 'message',
  role: 'assistant',
  id: `msg_${++count}`,
  content: [{ type: 'output_text', text }],
});

const piecewise = async (res: http.ServerResponse, { mode, args }: Script): Promise<void> => {
  const send = stream(res);
  const text = args.text ?? 'slowly but surely';
  const item = said(text);
  send('response.created', { response: { id: `resp_${++count}` } });
  send('response.output_item.added', { output_index: 0, item: { ...item, content: [] } });
  const size = Math.max(1, Math.ceil(text.length / Number(args.pieces ?? 4)));
  for (let at = 0; at < text.length; at += size) {
    send('response.output_text.delta', { item_id: item.id, output_index: 0, delta: text.slice(at, at + size) });
    if (mode === 'cut') {
      await new Promise((r) => setImmediate(r));
      res.destroy();
      return;
    }
    await pause(Number(args.ms ?? 50));
    if (res.destroyed) return;
  }
  send('response.output_item.done', { output_index: 0, item });
  send('response.completed', { response: { id: `resp_${count}`, usage: usageOf(args) } });
  res.end();
};

const failures: Record<string, (args: Record<string, string>, now: number) => [number, Record<string, unknown>]> = {
  '401': () => [
    401,
    {
      code: 'invalid_api_key',
      type: 'invalid_request_error',
      message: 'Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.',
    },
  ],
  limit: (args, now) => [
    429,
    {
      type: 'usage_limit_reached',
      message: 'The usage limit has been reached',
      plan_type: 'plus',
      resets_at: Math.floor(now / 1000) + Number(args.in_s ?? 3600),
    },
  ],
  plan: () => [429, { type: 'usage_not_included', message: 'Usage not included in your plan' }],
  tpm: () => [
    429,
    {
      type: 'tokens',
      code: 'rate_limit_exceeded',
      message:
        'Rate limit reached for gpt-5.5 in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000. Please try again in 8s.',
    },
  ],
  quota: () => [
    429,
    {
      type: 'insufficient_quota',
      code: 'insufficient_quota',
      message: 'You exceeded your current quota, please check your plan and billing details.',
    },
  ],
  '500': () => [500, { type: 'server_error', message: 'The server had an error while processing your request' }],
  '503': () => [503, { type: 'server_error', code: 'server_is_overloaded', message: 'server is overloaded' }],
  context: () => [
    400,
    {
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
    },
  ],
  model: () => [
    404,
    {
      type: 'invalid_request_error',
      code: 'model_not_found',
      message: 'The model `gpt-x` does not exist or you do not have access to it.',
    },
  ],
};

const respond = async (res: http.ServerResponse, script: Script, now: () => number): Promise<void> => {
  const { mode, args } = script;
  if (mode === 'mcp' && script.step === Number(args.turns ?? 0)) return finish(res, args, ...mcpCalls(script));
  const tool = toolFor(script);
  if (tool) return finish(res, args, tool);
  const failure = failures[mode]?.(args, now());
  if (failure) return json(res, failure[0], { error: failure[1] }, { 'x-request-id': `req_${++count}` });
  switch (mode) {
    case 'hang':
      return;
    case 'page':
      return page(res, 403);
    case 'slow':
    case 'cut':
      return piecewise(res, script);
    case 'failed': {
      const send = stream(res);
      const error = { code: args.code ?? 'server_error', message: args.message ?? 'It failed.' };
      send('response.failed', { response: { id: `resp_${++count}`, status: 'failed', error } });
      res.end();
      return;
    }
    case 'vast':
      return finish(res, args, said('x'.repeat(Number(args.mb) * 1024 * 1024)));
    case 'memory':
      return finish(res, args, said(`I was shown ${script.userTurns} turns.`));
    case 'mcp':
      return finish(res, args, said(args.text ?? `told: ${script.results.join(' | ')}`));
    case 'tool':
    case 'bash':
      return finish(res, args, said(args.text ?? 'done'));
    case 'ok':
      return finish(res, args, said(args.text ?? 'pong'));
    default:
      return json(res, 400, { error: { message: `The scripted provider has no mode ${mode}` } });
  }
};

export const startOpenAiApi = async (
  options: { port?: number; mode?: string; now?: () => number } = {},
): Promise<OpenAiApi> => {
  const login: Pick<OpenAiApi, 'refreshes' | 'refresh'> = {
    refreshes: [],
    refresh: { status: 401, body: { error: { code: 'refresh_token_expired' } } },
  };
  const now = options.now ?? Date.now;
  const api = await startScripted<OpenAiRequest>(async ({ path, headers, body }, res, keep) => {
    if (path.startsWith('/oauth/token')) {
      full.refreshes.push(JSON.parse(body) as Record<string, unknown>);
      const { status, body: answer } = full.refresh;
      return json(res, status, answer);
    }
    if (!path.startsWith('/v1/responses') || headers.upgrade) return json(res, 404, {});
    const asked = JSON.parse(body) as { model?: string; input?: Item[] };
    const script = readScript(messagesOf(asked.input ?? []), options.mode ?? 'ok');
    keep({
      path,
      bearer: headers.authorization?.replace(/^Bearer /, '') ?? null,
      account: (headers['chatgpt-account-id'] as string | undefined) ?? null,
      mode: script.mode,
      model: asked.model ?? null,
      input: asked.input ?? [],
    });
    if (headers.authorization === undefined)
      return json(res, 401, { error: { message: 'Missing bearer or basic authentication in header' } });
    await respond(res, script, now);
  }, options.port);
  const full: OpenAiApi = Object.assign(api, login);
  return full;
};
