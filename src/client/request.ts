/**
 * One HTTP request to the server: credentials, JSON, and errors as values of one class. Works in browsers and in Node.
 *
 * Every request has a bound of its own (30 s, or the asked wait and 15 s more): no caller ever leans on the header
 * timeout of the platform, which is 300 s in Node and would cut a longer synchronous answer. Longer waits go by id.
 */
export type Auth =
  | { kind: 'none' }
  | { kind: 'bearer'; token: string }
  /** The page: the browser sends the HttpOnly cookie itself; writes carry the CSRF token as a header. */
  | { kind: 'cookie'; csrf: () => string | null };

export interface Wire {
  baseUrl: string;
  auth: Auth;
  fetch: typeof fetch;
}

export interface Ask {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as a form: `/token` takes nothing else. */
  form?: Record<string, string>;
  query?: Record<string, string | number | boolean | null | undefined>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  timeoutMs?: number;
}

const requestTimeoutMs = 30_000;

/** What the server refused, or that it did not answer: `status` 0 and code `unreachable`. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number | null;
  /** `detail` of the body when it is an object, else the message again. */
  readonly detail: unknown;
  readonly details: unknown;
  /** The row that exists for the request, if one does (`X-Execution-Id`). */
  readonly executionId: string | null;

  constructor(
    message: string,
    more: {
      status: number;
      code: string;
      retryable?: boolean;
      retryAfterMs?: number | null;
      detail?: unknown;
      details?: unknown;
      executionId?: string | null;
      cause?: unknown;
    },
  ) {
    super(message, { cause: more.cause });
    this.name = 'ApiError';
    this.status = more.status;
    this.code = more.code;
    this.retryable = more.retryable ?? false;
    this.retryAfterMs = more.retryAfterMs ?? null;
    this.detail = more.detail ?? message;
    this.details = more.details;
    this.executionId = more.executionId ?? null;
  }
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

const parse = (text: string): unknown => {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return text;
  }
};

export const errorFrom = (status: number, headers: Headers, body: unknown): ApiError => {
  const error = record(record(body).error);
  const detail = record(body).detail;
  const said = [error.message, record(detail).message, detail, body].find((t) => typeof t === 'string' && t !== '');
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  const ownMs = error.retry_after_ms;
  return new ApiError(typeof said === 'string' ? said.slice(0, 2000) : `The server answered ${status}.`, {
    status,
    code: String(error.code ?? headers.get('x-drover-error-code') ?? `http_${status}`),
    retryable: error.retryable === true,
    retryAfterMs: typeof ownMs === 'number' ? ownMs : Number.isFinite(seconds) ? seconds * 1000 : null,
    detail,
    details: error.details,
    executionId: headers.get('x-execution-id') ?? (record(detail).execution_id as string | undefined) ?? null,
  });
};

/** Node hides `ECONNREFUSED` two causes deep. */
const whyUnreachable = (thrown: unknown): string => {
  for (let e = thrown, depth = 0; e instanceof Error && depth < 4; e = e.cause, depth++) {
    const code = (e as { code?: unknown }).code;
    if (typeof code === 'string' && /^[A-Z_]+$/.test(code)) return code;
  }
  return thrown instanceof Error ? thrown.message : String(thrown);
};

const urlOf = (wire: Wire, path: string, query: Ask['query'] = {}): string => {
  const pairs = Object.entries(query).filter(([, v]) => v !== undefined && v !== null && v !== '');
  const search = new URLSearchParams(pairs.map(([k, v]) => [k, String(v)])).toString();
  return `${wire.baseUrl.replace(/\/+$/, '')}${path}${search === '' ? '' : `?${search}`}`;
};

const headersOf = (auth: Auth, method: string): Record<string, string> => {
  if (auth.kind === 'bearer') return { authorization: `Bearer ${auth.token}` };
  const csrf = auth.kind === 'cookie' && method !== 'GET' ? auth.csrf() : null;
  return csrf === null ? {} : { 'x-csrf-token': csrf };
};

/** The raw answer, whatever its status; throws ApiError only when nothing answered. An abort by the caller stays an abort. */
export const send = async (wire: Wire, path: string, ask: Ask = {}): Promise<Response> => {
  const method = ask.method ?? 'GET';
  const body = ask.form
    ? new URLSearchParams(ask.form).toString()
    : ask.json === undefined
      ? null
      : JSON.stringify(ask.json);
  const type = ask.form ? 'application/x-www-form-urlencoded' : body === null ? null : 'application/json';
  const bounds = ask.timeoutMs === 0 ? [] : [AbortSignal.timeout(ask.timeoutMs ?? requestTimeoutMs)];
  const signals = ask.signal ? [ask.signal, ...bounds] : bounds;
  try {
    return await wire.fetch(urlOf(wire, path, ask.query), {
      method,
      body,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        ...(type === null ? {} : { 'content-type': type }),
        ...headersOf(wire.auth, method),
        ...ask.headers,
      },
      ...(signals.length === 0 ? {} : { signal: AbortSignal.any(signals) }),
    });
  } catch (thrown) {
    if (ask.signal?.aborted) throw thrown;
    throw new ApiError(`The server at ${wire.baseUrl || 'this address'} does not answer (${whyUnreachable(thrown)}).`, {
      status: 0,
      code: 'unreachable',
      retryable: true,
      cause: thrown,
    });
  }
};

interface Answer<T> {
  status: number;
  headers: Headers;
  body: T;
}

/** JSON in, JSON out; any status from 400 up throws ApiError. */
export const request = async <T>(wire: Wire, path: string, ask: Ask = {}): Promise<Answer<T>> => {
  const response = await send(wire, path, ask);
  const body = parse(await response.text());
  if (!response.ok) throw errorFrom(response.status, response.headers, body);
  return { status: response.status, headers: response.headers, body: body as T };
};
