/**
 * A scripted provider that the real Gemini CLI accepts as its API (`GOOGLE_GEMINI_BASE_URL`): streamGenerateContent as SSE.
 * Markers as in server.ts; its modes:
 *
 *   ok text=…              streams the text            memory             says how many turns it was shown
 *   tool path=… content=…  asks for write_file         bash command=…     asks for run_shell_command
 *   mcp tool=… [times=…] … asks for that tool with the other arguments, then says what it was told
 *   slow pieces=… ms=…     streams piece by piece      cut                breaks the stream off
 *   hang                   never answers               page               an intermediary's HTML instead of an answer
 *   401 key suspended day tpm exhausted 500 503 model long request  fail as the real API does
 *   empty safety                                       an answer without a word, an answer that was blocked
 *   any failing mode with turns=N spends N turns on `echo` first.
 */
import type http from 'node:http';
import { page } from './answer.ts';
import { argumentsOf, type Message, readScript, type Script } from './marker.ts';
import { json, pause, type Scripted, startScripted } from './scripted.ts';

export interface GoogleRequest {
  path: string;
  apiKey: string | null;
  mode: string;
  model: string | null;
  system: unknown;
  contents: Content[];
}
interface Part {
  text?: string;
  functionCall?: { name: string; args: Record<string, unknown> };
  functionResponse?: { response?: { output?: unknown; error?: unknown } };
}
interface Content {
  role: string;
  parts: Part[];
}

const toldBy = (response: { output?: unknown; error?: unknown } | undefined): string => {
  const told = response?.output ?? response?.error ?? '';
  return typeof told === 'string' ? told : JSON.stringify(told);
};

const messagesOf = (contents: Content[]): Message[] =>
  contents.flatMap((c): Message[] => {
    if (c.role !== 'user') return [];
    const content = c.parts.flatMap(
      (p): Exclude<Message['content'], string> =>
        p.functionResponse
          ? [{ type: 'tool_result', content: toldBy(p.functionResponse.response) }]
          : p.text === undefined || p.text.startsWith('<session_context>')
            ? []
            : [{ type: 'text', text: p.text }],
    );
    return content.length === 0 ? [] : [{ role: 'user', content }];
  });

const toolFor = ({ mode, args, step }: Script): Part | null => {
  const shell = (command: string): Part => ({
    functionCall: { name: 'run_shell_command', args: { command, description: 'run it' } },
  });
  const turns = Number(args.turns ?? 0);
  if (step < turns) return shell(`echo turn ${step + 1}`);
  if (step > turns) return null;
  if (mode === 'bash') return shell(args.command ?? 'true');
  if (mode !== 'tool') return null;
  const input = { file_path: args.path ?? 'hello.txt', content: args.content ?? 'hello\n' };
  return { functionCall: { name: 'write_file', args: input } };
};

const chunk = (args: Record<string, string>, parts: Part[], finishReason?: string) => {
  const prompt = Number(args.input_tokens ?? 11);
  const candidates = Number(args.output_tokens ?? 7);
  return {
    candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason ? { finishReason } : {}) }],
    usageMetadata: {
      promptTokenCount: prompt,
      candidatesTokenCount: candidates,
      totalTokenCount: prompt + candidates,
      cachedContentTokenCount: Number(args.cached_tokens ?? 2),
    },
    modelVersion: 'gemini-2.5-pro',
    responseId: 'r',
  };
};

const begin = (res: http.ServerResponse) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  return (data: unknown) => res.write(`data: ${JSON.stringify(data)}\r\n\r\n`);
};
const finish = (res: http.ServerResponse, args: Record<string, string>, parts: Part[], reason = 'STOP') => {
  begin(res)(chunk(args, parts, reason));
  res.end();
};

const piecewise = async (res: http.ServerResponse, { mode, args }: Script): Promise<void> => {
  const send = begin(res);
  const text = args.text ?? 'slowly but surely';
  const size = Math.max(1, Math.ceil(text.length / Number(args.pieces ?? 4)));
  for (let at = 0; at < text.length; at += size) {
    send(chunk(args, [{ text: text.slice(at, at + size) }], at + size < text.length ? undefined : 'STOP'));
    if (mode === 'cut') {
      await new Promise((r) => setImmediate(r));
      res.destroy();
      return;
    }
    await pause(Number(args.ms ?? 50));
    if (res.destroyed) return;
  }
  res.end();
};

const info = (reason: string, metadata: Record<string, string> = {}, domain = 'googleapis.com') => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain,
  metadata,
});
const quota = (quotaId: string) => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ quotaMetric: 'generativelanguage.googleapis.com/generate_content_requests', quotaId }],
});
const retryIn = (retryDelay: string) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay });

/** code, status, message, details */
const failures: Record<string, [number, string, string, unknown[]]> = {
  '401': [
    401,
    'UNAUTHENTICATED',
    'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
    [info('ACCESS_TOKEN_EXPIRED')],
  ],
  key: [
    400,
    'INVALID_ARGUMENT',
    'API key not valid. Please pass a valid API key.',
    [info('API_KEY_INVALID', { service: 'generativelanguage.googleapis.com' })],
  ],
  suspended: [
    403,
    'PERMISSION_DENIED',
    'Permission denied: Consumer has been suspended.',
    [info('CONSUMER_SUSPENDED')],
  ],
  day: [
    429,
    'RESOURCE_EXHAUSTED',
    'You exceeded your current quota, please check your plan and billing details. Please retry in 36.4s.',
    [quota('GenerateRequestsPerDayPerProjectPerModel-FreeTier'), retryIn('36s')],
  ],
  // Longer than the 300 s for which the CLI waits by itself.
  tpm: [
    429,
    'RESOURCE_EXHAUSTED',
    'Quota exceeded for quota metric x.',
    [quota('GenerateContentInputTokensPerModelPerMinute-PaidTier'), retryIn('400s')],
  ],
  exhausted: [
    429,
    'RESOURCE_EXHAUSTED',
    'You have exhausted your capacity on this model. Your quota will reset after 19h59m51s.',
    [info('QUOTA_EXHAUSTED', { quotaResetDelay: '19h59m51s' }, 'cloudcode-pa.googleapis.com'), retryIn('71991s')],
  ],
  '500': [500, 'INTERNAL', 'An internal error has occurred.', []],
  '503': [503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.', []],
  long: [
    400,
    'INVALID_ARGUMENT',
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    [],
  ],
  request: [400, 'INVALID_ARGUMENT', 'Please ensure that function call turn comes immediately after a user turn.', []],
  model: [404, 'NOT_FOUND', 'models/gemini-x is not found for API version v1beta', []],
};

const respond = async (res: http.ServerResponse, script: Script): Promise<void> => {
  const { mode, args } = script;
  if (mode === 'mcp' && script.step === Number(args.turns ?? 0)) {
    const call = { name: args.tool ?? 'mcp_drover_list_agents', args: argumentsOf(script) };
    return finish(
      res,
      args,
      Array.from({ length: Number(args.times ?? 1) }, () => ({ functionCall: call })),
    );
  }
  const tool = toolFor(script);
  if (tool) return finish(res, args, [tool]);
  const failure = failures[mode];
  if (failure) {
    const [code, status, message, details] = failure;
    return json(res, code, { error: { code, message, status, ...(details.length > 0 ? { details } : {}) } });
  }
  switch (mode) {
    case 'hang':
      return;
    case 'page':
      return page(res, 403);
    case 'slow':
    case 'cut':
      return piecewise(res, script);
    case 'empty':
      return finish(res, args, []);
    case 'safety':
      return finish(res, args, [], 'SAFETY');
    case 'memory':
      return finish(res, args, [{ text: `I was shown ${script.userTurns} turns.` }]);
    case 'mcp':
      return finish(res, args, [{ text: args.text ?? `told: ${script.results.join(' | ')}` }]);
    case 'tool':
    case 'bash':
      return finish(res, args, [{ text: args.text ?? 'done' }]);
    case 'ok':
      return finish(res, args, [{ text: args.text ?? 'pong' }]);
    default:
      return json(res, 400, { error: { code: 400, message: `The scripted provider has no mode ${mode}` } });
  }
};

export const startGoogleApi = (options: { port?: number; mode?: string } = {}): Promise<Scripted<GoogleRequest>> =>
  startScripted<GoogleRequest>(async ({ path, headers, body }, res, keep) => {
    if (path.includes(':countTokens')) return json(res, 200, { totalTokens: 10 });
    if (!path.includes(':streamGenerateContent')) return json(res, 404, {});
    const asked = JSON.parse(body) as { contents?: Content[]; systemInstruction?: unknown };
    const script = readScript(messagesOf(asked.contents ?? []), options.mode ?? 'ok');
    keep({
      path,
      apiKey: (headers['x-goog-api-key'] as string | undefined) ?? null,
      mode: script.mode,
      model: /models\/([^:]+):/.exec(path)?.[1] ?? null,
      system: asked.systemInstruction ?? null,
      contents: asked.contents ?? [],
    });
    await respond(res, script);
  }, options.port);
