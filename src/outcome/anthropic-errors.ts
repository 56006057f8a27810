/**
 * Errors of the Anthropic API, as bodies or as structured fields of Claude Code: what the type and the message mean.
 * Sources: platform.claude.com/docs/en/api/errors, code.claude.com/docs/en/errors, bodies of public bug reports.
 * A body in the API's own envelope `{"type":"error","error":{type,message}}` with a known type proves that the API spoke;
 * a page, or a body of another shape, is an intermediary.
 */
import type { Cause } from '../contract/causes.ts';
import { rowOf } from './row-of.ts';

export const anthropicTypes: Record<string, Cause> = {
  authentication_error: 'auth_failed',
  permission_error: 'access_denied',
  billing_error: 'billing',
  rate_limit_error: 'rate_limited',
  overloaded_error: 'overloaded',
  api_error: 'api_server_error',
  timeout_error: 'api_server_error',
  request_too_large: 'context_overflow',
  not_found_error: 'model_unavailable',
  invalid_request_error: 'invalid_request',
};

/** Messages that say more than their type. Anchored at their start; the API appends advice to some. */
const messages: readonly (readonly [RegExp, Cause])[] = [
  [/^OAuth authentication is currently not (allowed|supported) for this organization\b/, 'access_denied'],
  [/^This organization has been disabled\b/, 'access_denied'],
  [/^OAuth token (revoked|has been revoked|has expired)\b/, 'auth_failed'],
  [/^Your credit balance is too low\b/, 'billing'],
  [/^You have reached your specified (workspace )?API usage limits\b/, 'usage_limit'],
  [/^Output blocked by content filtering policy\b/, 'policy_refusal'],
  [/^[Pp]rompt is too long\b/, 'context_overflow'],
  [/^input length and `max_tokens` exceed context limit\b/, 'context_overflow'],
  [/^Request (size )?(exceeds the maximum|too large)\b/, 'context_overflow'],
  [/^(Usage credits required|Extra usage is required) for (1M|long) context\b/, 'model_unavailable'],
  [/^Claude Code \S+ does not support this model\b/, 'model_unavailable'],
  [/^model: /, 'model_unavailable'],
];

export const causeOfMessage = (message: string): Cause | null => messages.find(([re]) => re.test(message))?.[1] ?? null;

interface ApiBody {
  type: string | null;
  message: string;
  /** The API's own envelope with a type it documents. */
  proven: boolean;
}

/** The JSON error body at the start of `text`, if there is one. */
export const apiBody = (text: string): ApiBody | null => {
  if (!text.startsWith('{')) return null;
  const end = text.lastIndexOf('}');
  try {
    const body = JSON.parse(text.slice(0, end + 1)) as Record<string, unknown>;
    const error = (typeof body.error === 'object' && body.error !== null ? body.error : body) as Record<
      string,
      unknown
    >;
    const type = typeof error.type === 'string' && error !== body ? error.type : null;
    // Gateways and AWS put `message` or `Message` at the top.
    const said = error.message ?? error.Message;
    const message = typeof said === 'string' ? said : '';
    return { type, message, proven: body.type === 'error' && rowOf(anthropicTypes, type) !== undefined };
  } catch {
    return null;
  }
};

/** Words that an error page of an intermediary starts with. Never used against a body that carries a known type. */
const page =
  /^\s*(<!doctype|<html|<head|<body|<\?xml)|^(Just a moment\.\.\.|Attention Required!|Access denied|Unable to load site|Host not in allowlist|Request not allowed|Request blocked|Blocked by)/i;

export const looksLikePage = (text: string): boolean => page.test(text);

/** A challenge goes away by itself; a policy of a proxy or a country does not. */
export const isChallenge = (text: string): boolean =>
  /^(Just a moment\.\.\.|Attention Required!)|<html|<!doctype/i.test(text);
