/**
 * The one place where a "no" becomes a response: `{"error": {code, message, retryable, retry_after_ms?, details?}, "detail"}`
 * with the code repeated in X-Drover-Error-Code and its short form in X-Trinity-Error-Code. A Fault is logged here, once;
 * what it says inside never reaches the client, unless it was written for both.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import type { ShortCode } from '../contract/causes.ts';
import { type ErrorCode, errors, Fault, type Refusal, refuse } from '../contract/errors.ts';
import type { Log } from '../kernel/log.ts';
import { Refused } from './route.ts';

export interface WireError {
  status: number;
  code: string;
  short: ShortCode | null;
  message: string;
  retryable: boolean;
  retryAfterMs: number | null;
  details?: unknown;
  /** Left out: the message. */
  detail?: unknown;
  executionId?: string | null;
}

/** Routes whose answer is the ending of an execution use it with the table of causes. */
export const presentError = (reply: FastifyReply, e: WireError): FastifyReply => {
  reply.code(e.status).header('x-drover-error-code', e.code);
  if (e.short !== null) reply.header('x-trinity-error-code', e.short);
  if (e.retryAfterMs !== null) reply.header('retry-after', Math.max(1, Math.ceil(e.retryAfterMs / 1000)));
  if (e.executionId) reply.header('x-execution-id', e.executionId);
  if (e.status === 401) reply.header('www-authenticate', 'Bearer');
  return reply.type('application/json; charset=utf-8').send(
    JSON.stringify({
      error: {
        code: e.code,
        message: e.message,
        retryable: e.retryable,
        ...(e.retryAfterMs !== null && { retry_after_ms: e.retryAfterMs }),
        ...(e.details !== undefined && { details: e.details }),
      },
      detail: e.detail ?? e.message,
    }),
  );
};

export const presentRefusal = (reply: FastifyReply, r: Refusal): FastifyReply => {
  const row: { status: number; retryable: boolean; short?: ShortCode } = errors[r.code];
  return presentError(reply, {
    status: row.status,
    code: r.code,
    short: row.short ?? (row.status === 401 ? 'auth' : null),
    message: r.message,
    retryable: row.retryable,
    retryAfterMs: r.retryAfterMs ?? null,
    details: r.details,
    detail: r.detail,
    executionId: r.executionId ?? null,
  });
};

export const errorHandler = (log: Log) => (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
  const refusal = refusalOf(error);
  if (refusal !== null) return presentRefusal(reply, refusal);
  const code: ErrorCode = error instanceof Fault ? error.code : 'internal';
  // The path without its query: a query may hold what a log may not (R45).
  log.error('a request failed', { request: request.id, method: request.method, path: pathOf(request.url), error });
  reply.header('x-request-id', request.id);
  const words = error instanceof Fault && error.shown ? error.message : errors[code].hint;
  return presentRefusal(reply, refuse(code, `${words} (request ${request.id})`));
};

export const pathOf = (url: string): string => url.split('?', 1)[0]!;

/** What Fastify and its plugins refuse before a handler runs, in our words; null = a fault. */
const refusalOf = (error: FastifyError): Refusal | null => {
  if (error instanceof Refused) return error.refusal;
  if (hasZodFastifySchemaValidationErrors(error)) {
    const details = error.validation.map((v) => ({
      field: v.instancePath.slice(1).replaceAll('/', '.') || 'body',
      problem: v.message ?? 'is not valid',
    }));
    return refuse('invalid', details.map((d) => `${d.field}: ${d.problem}`).join('; '), { details });
  }
  const code = error.code ?? '';
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return refuse('too_large', `The body is too large. ${errors.too_large.hint}`);
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return refuse('unsupported_media_type', errors.unsupported_media_type.hint);
  if (code.startsWith('FST_CSRF_')) return refuse('csrf', errors.csrf.hint);
  if (error.statusCode === 429)
    return refuse('rate_limited', error.message, { retryAfterMs: (error as { retryAfterMs?: number }).retryAfterMs });
  // Bad JSON, a bad Content-Length, a bad percent-encoding in the path: the client's doing, each a 4xx in Fastify.
  if (error instanceof SyntaxError || code === 'FST_ERR_CTP_INVALID_JSON_BODY')
    // Fastify's own sentence says the same once more; a parser's says where.
    return refuse(
      'invalid_json',
      code === '' ? `${errors.invalid_json.hint} ${error.message}` : errors.invalid_json.hint,
    );
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
    return refuse('invalid', error.message);
  return null;
};
