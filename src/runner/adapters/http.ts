/**
 * The client of an agent that is an HTTP service (api.md, last section). It sends a request once and says how sure it is that
 * the service took it; everything after that goes by id. Status codes and sentences of such a service are kept as they
 * came: weak evidence, judged elsewhere.
 */
import type { ClaimedWork } from '../../contract/runner-protocol.ts';
import { httpClient } from '../http-client.ts';
import type { Hide } from '../redact.ts';
import type { CallBack } from './call-line.ts';

type Body = Record<string, unknown>;

export type Sent =
  /** The service answered with the ending, or with a refusal. */
  | { kind: 'answered'; status: number; body: Body }
  /** 202: it works on it; the result is asked for by id. */
  | { kind: 'accepted' }
  /** No byte of the request can have been read. */
  | { kind: 'not_accepted'; code: string; message: string }
  /** The connection broke after the request was on its way: only the service knows whether it took it. */
  | { kind: 'unclear'; code: string; message: string };

export type Asked =
  | { kind: 'answered'; status: number; body: Body }
  | { kind: 'running' }
  | { kind: 'unknown_id' }
  /** It answered, but not about the execution (a gateway's page, a token it does not know). */
  | { kind: 'not_told'; status: number }
  | { kind: 'unreachable'; code: string; message: string };

export interface AgentService {
  send(signal: AbortSignal): Promise<Sent>;
  result(signal: AbortSignal): Promise<Asked>;
  terminate(reason: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Before a connection stands nothing was sent. */
const beforeSending = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ETIMEDOUT',
]);
const connectMs = 5_000;
/** Asking by id is quick; the request itself may be answered after hours. */
const askMs = 30_000;

const serviceId = (claim: ClaimedWork): string =>
  // A retry is another piece of work for the service: the first one's result must not be taken for it.
  claim.number <= 1 ? claim.execution_id : `${claim.execution_id}-${claim.number}`;

const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** FastAPI wraps what a handler raises into `detail`. */
const bodyOf = (text: string): Body => {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return { response: value };
    return isObject(value.detail) && value.response === undefined ? value.detail : value;
  } catch {
    return { message: text.slice(0, 2_000) };
  }
};

const codeOf = (error: unknown): { code: string; message: string } => {
  const { code, message } = error as NodeJS.ErrnoException;
  return { code: code ?? 'UNKNOWN', message };
};

const requestBody = (claim: ClaimedWork, callback: CallBack | null): Body => {
  const { agent, options } = claim;
  const all = {
    message: claim.message,
    model: options.model ?? agent.model,
    system_prompt: [agent.custom_instructions, options.system_prompt].filter((t) => t).join('\n\n') || null,
    allowed_tools: options.allowed_tools ?? agent.allowed_tools,
    timeout_seconds: claim.timeout_s,
    max_turns: options.max_turns,
    execution_id: serviceId(claim),
    resume_session_id: claim.cli_session_id,
    // A connection of hours is one that breaks: the result is fetched when it is there.
    async_result: true,
    callback,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null && value !== undefined));
};

/** Beside the body, for services that read only the fields they know. */
const callBackHeaders = (c: CallBack | null): Record<string, string> =>
  c === null
    ? {}
    : { 'x-drover-url': c.server_url, 'x-drover-token': c.token, 'x-drover-execution-id': c.execution_id };

export const connectService = (
  claim: ClaimedWork,
  to: { baseUrl: string; callback: CallBack | null },
  hide: Hide,
): AgentService => {
  const client = httpClient({ connectMs });
  const base = to.baseUrl.replace(/\/+$/, '');
  const id = encodeURIComponent(serviceId(claim));
  const [token] = Object.values(claim.credential?.env ?? {});
  const headers = {
    'content-type': 'application/json',
    ...(token ? { authorization: `Bearer ${token}`, 'x-trinity-agent-token': token } : {}),
  };
  const call = async (
    method: 'GET' | 'POST',
    path: string,
    signal: AbortSignal,
    body?: Body,
    { answerMs = 0, more = {} }: { answerMs?: number; more?: Record<string, string> } = {},
  ) => {
    const { status, text } = await client.ask(`${base}${path}`, {
      method,
      signal,
      headers: { ...headers, ...more },
      body: body ? JSON.stringify(body) : null,
      answerMs,
    });
    return { status, text: hide(text) };
  };

  const stillRuns = async (signal: AbortSignal): Promise<boolean> => {
    const { status, text } = await call('GET', '/api/executions/running', signal, undefined, { answerMs: askMs });
    return status === 200 && text.includes(JSON.stringify(serviceId(claim)));
  };

  return {
    async send(signal) {
      try {
        const path = claim.kind === 'chat' ? '/api/chat' : '/api/task';
        const { status, text } = await call('POST', path, signal, requestBody(claim, to.callback), {
          more: callBackHeaders(to.callback),
        });
        return status === 202 ? { kind: 'accepted' } : { kind: 'answered', status, body: bodyOf(text) };
      } catch (error) {
        signal.throwIfAborted();
        const failed = codeOf(error);
        return { kind: beforeSending.has(failed.code) ? 'not_accepted' : 'unclear', ...failed };
      }
    },
    async result(signal) {
      try {
        const { status, text } = await call('GET', `/api/executions/${id}/result`, signal, undefined, {
          answerMs: askMs,
        });
        if (status === 404) return (await stillRuns(signal)) ? { kind: 'running' } : { kind: 'unknown_id' };
        const body = bodyOf(text);
        const working = ['running', 'queued', 'pending', 'accepted', 'processing'].includes(String(body.status));
        if (status === 202 || status === 204 || status === 409 || status === 425 || working) return { kind: 'running' };
        const ofTheRun = ['metadata', 'termination_reason', 'error_code', 'execution_log'].some((k) => k in body);
        if (status === 200 || ofTheRun) return { kind: 'answered', status, body };
        return { kind: 'not_told', status };
      } catch (error) {
        signal.throwIfAborted();
        return { kind: 'unreachable', ...codeOf(error) };
      }
    },
    async terminate(reason, signal) {
      await call('POST', `/api/executions/${id}/terminate`, signal, { reason }, { answerMs: askMs });
    },
    close: async () => client.close(),
  };
};
