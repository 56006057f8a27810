/**
 * How the model API, or something in front of it, fails: one mode per kind, with the status, type and words of the real one
 * (platform.claude.com/docs/en/api/errors; bodies of public bug reports). Modes with a reset or a stream stand in server.ts.
 */
import type { ServerResponse } from 'node:http';
import { page, refuse } from './answer.ts';

/** The CLI would try again for minutes: a short throttle is told to be final here. */
const once = { 'x-should-retry': 'false', 'retry-after': '2' };

const refusals: Record<string, [status: number, type: string, message: string, headers?: Record<string, string>]> = {
  '401': [401, 'authentication_error', 'invalid x-api-key'],
  '403-org': [403, 'permission_error', 'OAuth authentication is currently not allowed for this organization.'],
  '400-disabled': [400, 'invalid_request_error', 'This organization has been disabled.'],
  '400-credit': [
    400,
    'invalid_request_error',
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
  ],
  '400-spend': [
    400,
    'invalid_request_error',
    'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
  ],
  '400-long': [400, 'invalid_request_error', 'prompt is too long: 215000 tokens > 200000 maximum'],
  '400-policy': [400, 'invalid_request_error', 'Output blocked by content filtering policy'],
  '400-request': [400, 'invalid_request_error', 'messages.0.content.0: unexpected value'],
  '404-model': [404, 'not_found_error', 'model: claude-none-9'],
  '413': [413, 'request_too_large', 'Request exceeds the maximum size'],
  '429-short': [
    429,
    'rate_limit_error',
    'This request would exceed your organization’s rate limit of 50,000 input tokens per minute.',
    once,
  ],
  '500': [500, 'api_error', 'Internal server error'],
  '529': [529, 'overloaded_error', 'Overloaded'],
};

/** False when the mode is none of these. */
export const fail = (res: ServerResponse, mode: string): boolean => {
  const refusal = refusals[mode];
  if (refusal) refuse(res, ...refusal);
  else if (mode === '403page') page(res, 403);
  else if (mode === '200page') page(res, 200);
  else return false;
  return true;
};
