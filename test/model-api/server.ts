/**
 * A scripted provider that the real Claude Code CLI accepts as its model API (ANTHROPIC_BASE_URL). Modes, by the marker
 * in the message or by the option of the server:
 *
 *   ok text=…              streams the text            memory             says how many turns it was shown
 *   tool path=… content=…  asks for Write, then says done
 *   bash command=… [background=1]                       asks for Bash, then says done
 *   call name=… input={…} asks for that tool
 *   mcp tool=… [times=…] …          asks for that tool with the other arguments, then says what it was told
 *   slow pieces=… ms=…     streams piece by piece      cut                breaks the stream off
 *   hang                   never answers               max-tokens         stops at the longest answer allowed
 *   429 and the modes of failures.ts                    as the real one fails, or a page in front of it
 *   any failing mode with turns=N spends N turns on `echo` first.
 *
 * It records every request. Loopback only.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { refuse, speak, type ToolUse } from './answer.ts';
import { fail } from './failures.ts';
import { argumentsOf, type Message, readScript, type Script } from './marker.ts';

interface Recorded {
  path: string;
  apiKey: string | null;
  bearer: string | null;
  mode: string;
  model: string | null;
  /** As sent: text or blocks. */
  system: unknown;
  messages: Message[];
}
export interface ModelApi {
  url: string;
  requests: Recorded[];
  /** The mode of requests without a marker. */
  mode: string;
  /** By token: the mode in which a login fails, after the turns that the message asks for. */
  logins: Map<string, string>;
  /** Resolves when the n-th model request has arrived: tests wait for it instead of sleeping. */
  arrived(n: number): Promise<Recorded>;
  close(): Promise<void>;
}

interface Body {
  model?: string;
  system?: unknown;
  messages?: Message[];
}

const toolsFor = (script: Script): ToolUse[] | null => {
  if (script.mode === 'mcp' && script.step === Number(script.args.turns ?? 0))
    return Array.from({ length: Number(script.args.times ?? 1) }, () => ({
      name: script.args.tool ?? 'mcp__drover__list_agents',
      input: argumentsOf(script),
    }));
  const one = toolFor(script);
  return one && [one];
};

/** A job of `steps` commands, one after the other: the next one is the one whose word is in no result yet, nor told by the user. */
const nextOfJob = ({ args, results, said }: Script): ToolUse | null => {
  const done = Math.max(
    0,
    ...[...results, ...said].flatMap((r) => [...r.matchAll(/step-done (\d+)/g)].map((m) => Number(m[1]))),
  );
  if (done >= Number(args.steps ?? 1)) return null;
  const n = done + 1;
  const command = `echo ${n} >> ${args.journal}; echo "line ${n}" > step-${n}.txt; sleep 0.1; echo step-done ${n}`;
  return { name: 'Bash', input: { command, description: `step ${n}` } };
};

const toolFor = (script: Script): ToolUse | null => {
  const { mode, args, step } = script;
  if (mode === 'job') return nextOfJob(script);
  const turns = Number(args.turns ?? 0);
  if (step < turns) return { name: 'Bash', input: { command: `echo turn ${step + 1}`, description: 'count a turn' } };
  if (step > turns) return null;
  if (mode === 'tool')
    return { name: 'Write', input: { file_path: args.path ?? 'hello.txt', content: args.content ?? 'hello\n' } };
  if (mode === 'bash')
    return {
      name: 'Bash',
      input: {
        command: args.command ?? 'true',
        description: 'run it',
        ...(args.background ? { run_in_background: true } : {}),
      },
    };
  if (mode === 'call') return { name: args.name ?? 'Bash', input: JSON.parse(args.input ?? '{}') as ToolUse['input'] };
  return null;
};

const respond = async (res: http.ServerResponse, script: Script, model: string, now: () => number): Promise<void> => {
  const { mode, args } = script;
  const said = {
    model,
    inputTokens: Number(args.input_tokens ?? 11),
    outputTokens: Number(args.output_tokens ?? 7),
  };
  const tools = toolsFor(script);
  if (tools) return speak(res, { ...said, tools });
  const reset = String(Math.floor(now() / 1000) + 3600);
  switch (mode) {
    case 'hang':
      return;
    case '429':
      return refuse(res, 429, 'rate_limit_error', "This request would exceed your account's rate limit.", {
        'retry-after': '3600',
        'x-should-retry': 'false',
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-reset': reset,
        'anthropic-ratelimit-unified-representative-claim': 'five_hour',
        'anthropic-ratelimit-unified-5h-status': 'rejected',
        'anthropic-ratelimit-unified-5h-reset': reset,
        'anthropic-ratelimit-unified-5h-utilization': '1.0',
      });
    case 'cut':
      return speak(res, { ...said, text: args.text ?? 'This answer will not be whole.', pieces: 3, cut: true });
    case 'slow':
      return speak(res, {
        ...said,
        text: args.text ?? 'slowly but surely',
        pieces: Number(args.pieces ?? 5),
        pauseMs: Number(args.ms ?? 50),
      });
    case 'memory':
      return speak(res, { ...said, text: `I was shown ${script.userTurns} turns.` });
    case 'mcp':
      return speak(res, { ...said, text: args.text ?? `told: ${script.results.join(' | ')}` });
    case 'job':
    case 'tool':
    case 'bash':
    case 'call':
      return speak(res, { ...said, text: args.text ?? 'done' });
    case 'ok':
      return speak(res, { ...said, text: args.text ?? 'pong' });
    case 'max-tokens':
      return speak(res, { ...said, text: args.text ?? 'and so on', stopReason: 'max_tokens' });
    default:
      if (fail(res, mode)) return;
      return refuse(res, 400, 'invalid_request_error', `The scripted provider has no mode ${mode}`);
  }
};

export const startModelApi = async (
  options: { port?: number; mode?: string; now?: () => number } = {},
): Promise<ModelApi> => {
  const requests: Recorded[] = [];
  let wake: (() => void)[] = [];
  const now = options.now ?? Date.now;
  const api: Omit<ModelApi, 'url'> = {
    requests,
    mode: options.mode ?? 'ok',
    logins: new Map(),
    arrived: async (n) => {
      while (requests.length < n) await new Promise<void>((r) => wake.push(r));
      return requests[n - 1]!;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const server = http.createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of req) chunks.push(chunk as Buffer);
    } catch {
      return; // the CLI went away while it was sending
    }
    const path = req.url ?? '/';
    res.on('error', () => {});
    const empty = (body: object) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (!path.startsWith('/v1/messages')) return empty({});
    if (path.includes('count_tokens')) return empty({ input_tokens: 10 });
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Body;
    const script = readScript(body.messages ?? [], api.mode);
    const header = (name: string) => (req.headers[name] as string | undefined) ?? null;
    const login = header('x-api-key') ?? header('authorization')?.replace(/^Bearer /, '') ?? '';
    const fails = api.logins.get(login);
    if (fails !== undefined && script.step >= Number(script.args.turns ?? 0)) script.mode = fails;
    requests.push({
      path,
      apiKey: header('x-api-key'),
      bearer: header('authorization')?.replace(/^Bearer /, '') ?? null,
      mode: script.mode,
      model: body.model ?? null,
      system: body.system ?? null,
      messages: body.messages ?? [],
    });
    for (const w of wake.splice(0)) w();
    wake = [];
    await respond(res, script, body.model ?? 'unknown', now);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  return Object.assign(api, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
};
