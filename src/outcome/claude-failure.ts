/**
 * What Claude Code itself says about its failure, in structure: the `result` event, the API error it rendered as a message,
 * a rejected rate-limit event, its last retry. The class it gives can lie (it calls a Cloudflare page
 * `authentication_failed`); the discriminator is whether the model API spoke: a type it documents, a request id, an
 * `api_error` that the CLI derives from the body, or, in builds that lack those, its own sentence in a `<synthetic>` message.
 */
import type { Cause } from '../contract/causes.ts';
import type { StreamFacts, StreamSignal } from '../contract/facts.ts';
import { anthropicTypes, causeOfMessage, isChallenge, looksLikePage } from './anthropic-errors.ts';
import { byStatus, claudeSentence } from './claude-table.ts';
import type { Context, Finding } from './finding.ts';
import { lineFinding } from './owned-lines.ts';
import { resetFromText } from './reset-times.ts';
import { rowOf } from './row-of.ts';

type Json = Record<string, unknown>;

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const record = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});

/** `result.startup_failure_reason` (CLAUDE_CODE_STARTUP_FAILURE_RESULTS=1). Those not listed are configuration as well. */
const startupReasons: Record<string, Cause> = {
  cwd_unavailable: 'workdir_missing',
  cli_version_too_old: 'model_unavailable',
  session_not_found: 'session_not_found',
  gateway_signin_required: 'auth_missing',
};

/** `terminal_reason` and `subtype` that say it all. What depends on the text (`api_error`, `image_error`) is not here. */
const terminalReasons: Record<string, Cause> = {
  max_turns: 'max_turns',
  error_max_turns: 'max_turns',
  budget_exhausted: 'budget_exceeded',
  error_max_budget_usd: 'budget_exceeded',
  prompt_too_long: 'context_overflow',
  blocking_limit: 'context_overflow',
  rapid_refill_breaker: 'context_overflow',
};

/** `api_error`, as documented in sdk.d.ts: derived by the CLI from the API's answer. */
const apiErrors: Record<string, Cause> = {
  usage_limit_reached: 'usage_limit',
  long_context_credits_required: 'model_unavailable',
  model_requires_usage_credits: 'model_unavailable',
  claude_code_version_too_old: 'model_unavailable',
  org_disabled_credential: 'access_denied',
  api_key_auth_disabled: 'access_denied',
  tool_history_mismatch: 'invalid_request',
  pdf_too_large: 'invalid_request',
  pdf_password_protected: 'invalid_request',
  media_removed: 'invalid_request',
  effort_requires_thinking: 'invalid_request',
  advisor_incompatible: 'invalid_request',
  field_not_granted: 'invalid_request',
  safety_monitor_blocked: 'policy_refusal',
  max_output_tokens: 'output_limit',
};

/** The same, where no API answered or nothing was sent: these prove nothing about a credential. */
const localApiErrors: Record<string, Cause> = {
  tls_untrusted_ca: 'tls_failure',
  tls_cert_signature_failure: 'tls_failure',
  connection_failed: 'network_failure',
  no_response: 'network_failure',
  stream_idle_timeout: 'network_failure',
  computer_slept: 'network_failure',
  gateway_content_type: 'malformed_response',
  empty_completion: 'malformed_response',
  network_edge_blocked: 'edge_blocked',
  gateway_signin_required: 'auth_missing',
  gateway_session_expired: 'auth_missing',
  invalid_credential_header: 'auth_missing',
  stored_login_refused: 'auth_missing',
  named_profile_unusable: 'auth_missing',
  oauth_refresh_store_refused: 'bad_config',
  hook_denied: 'bad_config',
  consent_unanswered: 'model_unavailable',
  no_allowed_fallback: 'model_unavailable',
  model_substitution_disabled: 'model_unavailable',
  autocompact_thrashing: 'context_overflow',
  message_over_context_limit: 'context_overflow',
};

/** The assistant's `error` where the class alone is specific. The others (`rate_limit`, `invalid_request`, ...) are too wide. */
const classes: Record<string, Cause> = {
  oauth_org_not_allowed: 'access_denied',
  account_on_hold: 'access_denied',
  verification_required: 'access_denied',
  billing_error: 'billing',
  overloaded: 'overloaded',
  model_not_found: 'model_unavailable',
};

interface Failure {
  status: number | null;
  type: string | null;
  apiError: string | null;
  code: string | null;
  class: string | null;
  cut: string | null;
  requestId: boolean;
  synthetic: boolean;
  /** The build marks API errors: then a missing type and request id mean that no API answered. */
  marksErrors: boolean;
  stopReason: string | null;
  text: string;
  limit: Json | null;
}

const lastSignal = (stream: StreamFacts, kind: string): StreamSignal | null =>
  stream.signals.findLast((s) => s.kind === kind && !s.model_output_after) ?? null;

/** With a terminal event its own message counts whatever came in between; without one, only an error that nothing followed. */
const renderedError = (stream: StreamFacts, result: Json | null): Json => {
  if (result === null) return record(lastSignal(stream, 'assistant_error')?.data);
  const error = record(stream.signals.findLast((s) => s.kind === 'assistant_error')?.data);
  const said = text(error.text)?.trim() ?? '';
  const final = (text(result.result) ?? '').trim();
  // An earlier error that the run had got over has other words than the final one.
  return said === '' || final === '' || said.slice(0, 200) === final.slice(0, 200) ? error : {};
};

const failureOf = (stream: StreamFacts, terminal: Json | null): Failure => {
  const result = terminal ?? {};
  const error = renderedError(stream, terminal);
  const status = result.api_error_status ?? error.api_error_status;
  const params = record(error.api_error_params ?? result.api_error_params);
  const errors = Array.isArray(result.errors) ? result.errors.filter((e) => typeof e === 'string') : [];
  const rejected = stream.signals.findLast(
    (s) => s.kind === 'rate_limit_rejected' && (terminal !== null || !s.model_output_after),
  );
  const limit = params.rate_limit_info ?? rejected?.data.rate_limit_info;
  return {
    status: typeof status === 'number' ? status : null,
    type: text(result.api_error_type) ?? text(error.api_error_type),
    apiError: text(result.api_error) ?? text(error.api_error),
    code: text(error.api_error_code) ?? text(result.api_error_code),
    class: text(error.error) ?? text(result.error),
    cut: text(params.cut),
    requestId: text(error.request_id) !== null || text(result.request_id) !== null,
    synthetic: error.synthetic === true,
    marksErrors: error.is_api_error_message === true || result.api_error_type !== undefined,
    stopReason: text(result.stop_reason) ?? text(error.stop_reason),
    text: (text(result.result) || errors.join('\n') || text(error.text) || '').trim(),
    limit: typeof limit === 'object' && limit !== null ? (limit as Json) : null,
  };
};

/** The terminal `result` event says that the run failed. */
export const claudeTerminal = (stream: StreamFacts, context: Context): Finding | null => {
  const result = stream.result;
  if (result === null || result.type !== 'result' || claudeSucceeded(result)) return null;
  const proven = (cause: Cause, why: string): Finding => ({ cause, why, tier: 'structured', confidence: 'proven' });
  const startup = text(result.startup_failure_reason);
  if (startup !== null)
    return proven(rowOf(startupReasons, startup) ?? 'bad_config', `startup_failure_reason ${startup}`);
  for (const key of ['terminal_reason', 'subtype'] as const) {
    const value = text(result[key]);
    const cause = rowOf(terminalReasons, value);
    if (cause !== undefined) return proven(cause, `result.${key} ${value}`);
  }
  const reasons = text(result.terminal_reason) ?? text(result.subtype) ?? '';
  const failure = failureOf(stream, result);
  // An event without words: the sentence may stand beside it, on a line of its own.
  if (failure.text === '') failure.text = ownLine(stream, context);
  const api = apiFailure(stream, failure, context);
  if (api !== null) return api;
  if (
    /^(error_max_structured_output_retries|malformed_tool_use_exhausted|structured_output_retry_exhausted)$/.test(
      reasons,
    )
  )
    return { ...proven('malformed_response', `the model's output was not usable: ${reasons}`), retryable: false };
  if (result.terminal_reason === 'aborted_streaming' || result.terminal_reason === 'aborted_tools')
    return proven('killed_unknown', `result.terminal_reason ${result.terminal_reason}: interrupted, not by Drover`);
  return {
    cause: 'unknown',
    why: 'the CLI ended with an error it did not name',
    tier: 'structured',
    confidence: 'unknown',
  };
};

/** The terminal event says that it failed, so what the model said in between does not take the sentence back. */
const ownLine = (stream: StreamFacts, context: Context): string => {
  let said = '';
  const ended = { ...stream, lines: stream.lines.map((l) => ({ ...l, model_output_after: false })) };
  lineFinding(ended, (line) => {
    const found = claudeSentence(line, context);
    if (found !== null) said = line;
    return found;
  });
  return said;
};

export const claudeSucceeded = (result: Json): boolean =>
  result.type === 'result' && result.subtype === 'success' && result.is_error === false;

/** No terminal event, but the CLI had rendered its final error, or a window of the plan was rejected. */
export const claudePending = (stream: StreamFacts, context: Context): Finding | null => {
  const error = lastSignal(stream, 'assistant_error');
  if (error !== null) {
    const found = apiFailure(stream, failureOf(stream, null), context);
    if (found !== null) return found;
  }
  const rejected = record(lastSignal(stream, 'rate_limit_rejected')?.data.rate_limit_info);
  return text(rejected.rateLimitType) === null ? null : windowRejected(rejected, '', context);
};

/** Only retries were seen. They are informational: a kill explains the end better, an exit does not. */
export const claudeRetrying = (stream: StreamFacts): Finding | null => {
  const retry = lastSignal(stream, 'api_retry');
  if (retry === null) return null;
  const { error_status: status, error, in_a_row: seen, attempt } = retry.data;
  const times = Math.max(Number(seen) || 1, Number(attempt) || 1);
  const why = `api_retry ${times} with status ${status ?? 'none'} (${error ?? 'no class'}), no model output after it`;
  if (typeof status !== 'number') return { cause: 'network_failure', why, tier: 'structured', confidence: 'likely' };
  const meant = byStatus(status, false);
  // One rejected login may be a refresh in flight; the same answer twice, classed by the CLI as a login, is the login.
  const login = status === 401 && error === 'authentication_failed' && times >= 2;
  return { ...meant, switches: login ? true : meant.switches, why, tier: 'structured', confidence: 'likely' };
};

const windowRejected = (limit: Json, said: string, context: Context): Finding => ({
  cause: 'usage_limit',
  why: `rate_limit_event rejected, ${text(limit.rateLimitType) ?? 'no type'}`,
  tier: 'structured',
  confidence: 'proven',
  switches: true,
  reset_at: typeof limit.resetsAt === 'number' ? limit.resetsAt * 1000 : resetFromText(said, context),
});

const apiFailure = (stream: StreamFacts, f: Failure, context: Context): Finding | null => {
  const typed = rowOf(anthropicTypes, f.type);
  const spoke = typed !== undefined || f.requestId;
  const firstLine = f.text.split(/\r?\n/, 1)[0]!;
  const sentence = claudeSentence(firstLine, context, 'structured');
  // A rendered message or a class of the main thread, with a status or the CLI's own sentence, is its own proof (older builds).
  const owned = sentence?.switches === true && (f.status !== null || f.class !== null || f.synthetic);
  const said = [f.status, f.type, f.apiError, f.code, f.class].filter((v) => v !== null).join(' ');
  const finding = (cause: Cause, more: Partial<Finding> = {}): Finding => ({
    cause,
    why: [said, firstLine === '' ? '' : `"${firstLine.slice(0, 200)}"`].filter((s) => s !== '').join(': '),
    tier: 'structured',
    confidence: 'proven',
    switches: spoke,
    ...more,
  });

  if (f.class === 'cloud_credential_error' || f.apiError === 'provider_credentials')
    return finding('auth_failed', { switches: false, renews: true });
  const local = rowOf(localApiErrors, f.apiError);
  if (local !== undefined) {
    // A refused proxy tunnel and a dead host share `connection_failed`; the sentence tells them apart.
    const cause = f.apiError === 'connection_failed' && sentence !== null ? sentence.cause : local;
    const closed = cause === 'edge_blocked';
    return finding(cause, { switches: false, retryable: closed ? false : undefined });
  }
  const typedError = rowOf(apiErrors, f.apiError);
  if (f.apiError === 'max_output_tokens' && (f.cut === 'context_window' || sentence?.cause === 'context_overflow'))
    return finding('context_overflow');
  // A window of the plan, or a cap on money: the sentence says which.
  if (typedError === 'usage_limit' && sentence?.cause !== 'billing')
    return { ...windowRejected(f.limit ?? {}, f.text, context), why: finding(typedError).why };
  if (typedError !== undefined && typedError !== 'usage_limit') return finding(typedError, { switches: true });
  if (f.code === 'claude_code_version_too_old') return finding('model_unavailable');
  if (f.stopReason === 'refusal') return finding('policy_refusal');
  if (f.class === 'authentication_failed' && f.status === null && sentence?.cause === 'auth_missing') return sentence;

  // An intermediary's page: no request id, no type of the API, whatever class the CLI gave it.
  const body = firstLine.replace(/^(Failed to authenticate\. )?(API Error: )?(\d{3} )?/, '');
  const page = !spoke && (looksLikePage(body) || (f.type !== null && !typed && f.status === 403));
  if (page && f.status !== null && f.status < 500) return finding('edge_blocked', { retryable: isChallenge(body) });

  const classed = rowOf(classes, f.class);
  if (classed !== undefined) return finding(classed, { switches: true });
  if (
    f.limit !== null &&
    text(f.limit.rateLimitType) !== null &&
    (f.status ?? 429) === 429 &&
    sentence?.cause !== 'billing'
  )
    return { ...windowRejected(f.limit, f.text, context), why: finding('usage_limit').why };

  // A plan's token that the API refused: the CLI drops it, asks once more, and then says of itself that it has none.
  if (sentence?.cause === 'auth_missing' && f.status === 401 && spoke)
    return finding('auth_failed', helper(stream) ? { switches: false, renews: true } : {});
  if (sentence !== null) {
    if (sentence.cause === 'auth_failed' && helper(stream)) return { ...sentence, switches: false, renews: true };
    // A sentence without any structure around it names the cause; that the API spoke it does not prove.
    return {
      ...sentence,
      why: finding(sentence.cause).why,
      switches: sentence.switches === null ? null : spoke || owned,
    };
  }
  const message = causeOfMessage(body);
  if (message !== null) return finding(message);
  if (f.status !== null) {
    if (f.status === 401 && helper(stream)) return finding('auth_failed', { switches: false, renews: true });
    const meant = typed && f.status !== 404 ? { cause: typed } : byStatus(f.status, spoke);
    const older = f.status === 401 && !spoke && f.synthetic && !f.marksErrors ? { switches: true } : {};
    return finding(meant.cause, {
      ...meant,
      switches: spoke ? true : (meant as { switches?: boolean | null }).switches,
      ...older,
    });
  }
  if (typed) return finding(typed);
  if (f.class === 'authentication_failed') return finding('auth_failed', { switches: f.requestId ? true : null });
  if (f.class === 'rate_limit') return finding('rate_limited');
  const retry = claudeRetrying(stream);
  if (retry !== null && f.class !== null) return { ...retry, switches: false };
  if (f.class === 'server_error') return finding('api_server_error');
  if (f.class === 'invalid_request') return finding('invalid_request');
  return null;
};

/** A key from a helper program goes stale and is fetched anew: rotating subscriptions changes nothing (CC#43436). */
const helper = (stream: StreamFacts): boolean => /helper/i.test(stream.api_key_source ?? '');
