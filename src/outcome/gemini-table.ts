/**
 * What Gemini CLI says: `result.error`, Google's error body inside `[API Error: ...]`, its stderr report, its exit codes.
 * Sources: cases/README.md 4.3 (0.61), packages/core/src/utils/errors.ts, packages/cli/src/utils/errors.ts, googleQuotaErrors.ts.
 * Its class names mislead (a capacity problem is a TerminalQuotaError): reasons and quota ids decide.
 */
import type { StreamFacts } from '../contract/facts.ts';
import { byStatus } from './claude-table.ts';
import type { Context, Finding } from './finding.ts';
import { findingOf, type OwnedSentence, sentenceIn } from './owned-lines.ts';
import { rowOf } from './row-of.ts';

const any = /^/;

/** `details[].reason` of google.rpc.ErrorInfo. */
const reasons: Record<string, OwnedSentence> = {
  API_KEY_INVALID: { match: any, cause: 'auth_failed', switches: true },
  API_KEY_EXPIRED: { match: any, cause: 'auth_failed', switches: true },
  ACCESS_TOKEN_EXPIRED: { match: any, cause: 'auth_failed', switches: true },
  CONSUMER_SUSPENDED: { match: any, cause: 'access_denied', switches: true },
  SERVICE_DISABLED: { match: any, cause: 'bad_config' },
  CONSUMER_INVALID: { match: any, cause: 'bad_config' },
  MODEL_CAPACITY_EXHAUSTED: { match: any, cause: 'overloaded' },
  QUOTA_EXHAUSTED: { match: any, cause: 'usage_limit', switches: true },
};

/** The text of an API error, without its status or brackets. */
const messages: readonly OwnedSentence[] = [
  { match: /^API key (not valid|expired)\..*$/, cause: 'auth_failed', switches: true },
  { match: /^Your API key was reported as leaked\..*$/, cause: 'auth_failed', switches: true },
  { match: /^Your prepayment credits are depleted\..*$/, cause: 'billing', switches: true },
  // The country of the caller: no key gets past it.
  { match: /^User location is not supported for the API use\..*$/, cause: 'edge_blocked', retryable: false },
  {
    match: /^The input token count \(?\d+\)? exceeds the maximum number of tokens allowed\b.*$/,
    cause: 'context_overflow',
  },
  { match: /^No capacity available for model \S+.*$/, cause: 'overloaded' },
  { match: /^The model is overloaded\..*$/, cause: 'overloaded' },
  { match: /^You have exhausted your (daily|capacity|quota)\b.*$/, cause: 'usage_limit', switches: true },
  { match: /^Quota exceeded for (quota )?metric .*\bper day\b.*$/i, cause: 'usage_limit', switches: true },
  { match: /^Quota exceeded for (quota )?metric .*$/i, cause: 'rate_limited' },
  {
    match: /^(models\/\S+ is not found for API version|Requested entity was not found)\b.*$/,
    cause: 'model_unavailable',
  },
  { match: /^(exception TypeError: )?fetch failed\b.*$/, cause: 'network_failure' },
  // undici, when the stream breaks off.
  { match: /^(terminated|other side closed|Premature close)$/, cause: 'network_failure' },
  { match: /^The model returned an empty response\b.*$/, cause: 'malformed_response' },
  // The finish reasons of a stream, as the CLI words them (useGeminiStream.ts).
  { match: /^Response (truncated|stopped) due to token limits?\.?$/, cause: 'output_limit' },
  { match: /^Response stopped due to (malformed function call|unexpected tool call)\.?$/, cause: 'malformed_response' },
  { match: /^Model response was truncated because it exceeded the token limit\..*$/, cause: 'output_limit' },
  { match: /^Model stream ended due to token limit exhaustion .+$/, cause: 'output_limit' },
  { match: /^The model returned reasoning thoughts but no final response text\..*$/, cause: 'malformed_response' },
  {
    match: /^(The model response|Response|Content|Prompt) (was |has been )?(blocked|stopped) (due to|by|for) .+$/,
    cause: 'policy_refusal',
  },
  {
    match: /^Model stream ended due to (safety|recitation|other) settings \([A-Z]+\) with empty response text\.$/,
    cause: 'policy_refusal',
  },
  { match: /^(The )?[Mm]odel stream ended (with|without) .+$/, cause: 'malformed_response' },
];

/** Whole lines of a start that failed. */
const startSentences: readonly OwnedSentence[] = [
  { match: /^Unknown arguments?: .+$/, cause: 'bad_cli_usage' },
  { match: /^Error resuming session: .+$/, cause: 'session_not_found' },
  { match: /^(Invalid session identifier|No previous sessions found)\b.*$/, cause: 'session_not_found' },
  { match: /^Please set an Auth method in your .+$/, cause: 'auth_missing' },
  // Seen with GOOGLE_GEMINI_BASE_URL and no `security.auth.selectedType` in the settings.
  { match: /^Invalid auth method selected\.$/, cause: 'bad_config' },
  {
    match: /^When using Gemini API, you must specify the GEMINI_API_KEY environment variable\..*$/,
    cause: 'auth_missing',
  },
  { match: /^(The )?GEMINI_API_KEY environment variable (is )?not (found|set)\b.*$/, cause: 'auth_missing' },
  {
    match:
      /^(Error authenticating: |Failed to login\. Message: )?(\w*Error: )*This account requires setting the GOOGLE_CLOUD_PROJECT\b.*$/,
    cause: 'bad_config',
  },
  // Google's sign-in ended; a start says it before any model was asked.
  { match: /^Error authenticating: (\w*Error: )*invalid_grant$/, cause: 'auth_failed', switches: true },
  { match: /^Gemini CLI is not running in a trusted directory\..*$/, cause: 'bad_config' },
  { match: /^Error in .+settings\.json: .+$/, cause: 'bad_config' },
  { match: /^Reached max session turns for this session\..*$/, cause: 'max_turns' },
];

/** `result.error.type`. */
const errorTypes: Record<string, OwnedSentence['cause']> = {
  FatalTurnLimitedError: 'max_turns',
  FatalAuthenticationError: 'auth_missing',
  FatalConfigError: 'bad_config',
  FatalSandboxError: 'bad_config',
  FatalUntrustedWorkspaceError: 'bad_config',
  FatalInputError: 'bad_cli_usage',
  FatalCancellationError: 'cancelled',
  MaxSessionTurnsError: 'max_turns',
};

interface GoogleError {
  status: number | null;
  name: string;
  message: string;
  reason: string | null;
  perDay: boolean;
}

/** The body `{"error":{code,message,status,details}}` at the first brace of the text. */
const googleError = (text: string): GoogleError | null => {
  const start = text.indexOf('{"error":');
  const end = text.lastIndexOf('}');
  if (start < 0) return null;
  try {
    const { error } = JSON.parse(text.slice(start, end + 1)) as { error: Record<string, unknown> };
    const details = Array.isArray(error.details) ? (error.details as Record<string, unknown>[]) : [];
    const reason = details.map((d) => d?.reason).find((r) => typeof r === 'string') as string | undefined;
    return {
      status: typeof error.code === 'number' ? error.code : null,
      name: String(error.status ?? ''),
      message: String(error.message ?? ''),
      reason: reason ?? null,
      perDay: /"quotaId":"[^"]*PerDay/.test(JSON.stringify(details)),
    };
  } catch {
    return null;
  }
};

const errorMeans = (error: GoogleError): OwnedSentence => {
  const reason = rowOf(reasons, error.reason);
  if (reason) return reason;
  if (error.perDay) return { match: any, cause: 'usage_limit', switches: true };
  const row = sentenceIn(messages, error.message);
  if (row) return row;
  // An answer that was no JSON of Google's: the SDK makes such a body of the page and of the HTTP status text ("Forbidden").
  if (/^\s*</.test(error.message)) return { match: any, ...byStatus(error.status ?? 403, false) };
  if (error.name === 'UNAUTHENTICATED') return { match: any, cause: 'auth_failed', switches: true };
  if (error.name === 'RESOURCE_EXHAUSTED') return { match: any, cause: 'rate_limited' };
  return { match: any, ...byStatus(error.status ?? 0, /^[A-Z]+(_[A-Z]+)*$/.test(error.name)) };
};

/** `[API Error: ...]`, with a status, a body, or words; null when it is no API error. */
const apiError = (text: string): OwnedSentence | null => {
  const bracket = /^\[API Error: (.*?)\]?(?:\n|$)/s.exec(text);
  const inner = bracket ? bracket[1]! : text;
  const body = googleError(inner);
  if (body) return errorMeans(body);
  const [, status, words] = /^(?:(\d{3}) )?(.*)$/s.exec(inner.split('\n', 1)[0]!)!;
  const row = sentenceIn(messages, words!);
  if (row) return row;
  if (/^\s*</.test(words!)) return { match: any, cause: 'edge_blocked' };
  return status && bracket ? { match: any, ...byStatus(Number(status), false) } : null;
};

/** The report that text mode prints on stderr: the body when it is there, else the `reason:` and `status:` of the dump. */
const reportMeans = (stream: StreamFacts): Finding | null => {
  const lines = stream.lines.filter((l) => l.stream === 'stderr' && !l.model_output_after).map((l) => l.text);
  const reportAt = lines.findIndex((l) => /^Error when talking to Gemini API\b/.test(l));
  if (reportAt >= 0) {
    const said = lines[reportAt]!.replace(/^.*?Full report available at: \S+ (_?\w*Error: )?/, '');
    const row = apiError(said);
    if (row && row.cause !== 'unknown') return findingOf(row, said, { now: null, zone: 'UTC' });
  }
  const reason = lines.map((l) => /^ {2}reason: '([A-Z_]+)',$/.exec(l)?.[1]).find((r) => r !== undefined);
  const meant = rowOf(reasons, reason);
  if (meant) return findingOf(meant, `reason ${reason}`, { now: null, zone: 'UTC' });
  const status = lines.map((l) => /^ {2}(?:status|code): (\d{3}),?$/.exec(l)?.[1]).find((s) => s !== undefined);
  if (status === undefined) return null;
  // Google answers a bad key with 400 where others say 401; its other 400s name what is wrong in the report's first line.
  const critical = lines.includes('An unexpected critical error occurred:[object Object]');
  const row: OwnedSentence =
    status === '400' && critical && !stream.model_spoke
      ? { match: any, cause: 'auth_failed', switches: true }
      : { match: any, ...byStatus(Number(status), true) };
  // Without its reason a 403 is an account that was suspended, or a project where the API is not switched on.
  if (status === '403') row.switches = null;
  return findingOf(row, `API error report with status ${status}`, { now: null, zone: 'UTC' });
};

export const geminiTerminal = (stream: StreamFacts, context: Context): Finding | null => {
  const result = stream.result;
  if (result === null || result.status !== 'error') return null;
  const error = (typeof result.error === 'object' && result.error !== null ? result.error : {}) as Record<
    string,
    unknown
  >;
  const message = typeof error.message === 'string' ? error.message : '';
  const structured = (row: OwnedSentence, text: string) => findingOf(row, text, context, 'structured');
  const type = typeof error.type === 'string' ? error.type : '';
  const cause = rowOf(errorTypes, type);
  if (cause) return structured({ match: any, cause }, `${type}: ${message}`);
  if (type === 'FatalToolExecutionError' && /\b(ENOSPC|no space left on device)\b/i.test(message))
    return structured({ match: any, cause: 'host_resource_exhausted', retryable: false }, message);
  const row = apiError(message);
  if (row && row.cause !== 'unknown') return structured(row, message);
  const said = stream.signals.findLast((s) => s.kind === 'gemini_error' && !s.model_output_after)?.data.message;
  const fallback = typeof said === 'string' ? apiError(said) : null;
  if (fallback && fallback.cause !== 'unknown') return structured(fallback, String(said));
  return (
    reportMeans(stream) ?? {
      cause: 'unknown',
      why: `result.status error: "${message.slice(0, 200)}"`,
      tier: 'structured',
      confidence: 'unknown',
    }
  );
};

export const geminiLine = (line: string, context: Context): Finding | null => {
  const start = sentenceIn(startSentences, line);
  if (start) return findingOf(start, line, context);
  if (!line.startsWith('[API Error: ')) return null;
  const row = apiError(line);
  return row && row.cause !== 'unknown' ? findingOf(row, line, context) : null;
};

export const geminiReport = reportMeans;

/** What the reader lets the CLI wait for; beyond it the run is stopped, and the limit is the end of it. */
const waitsItselfMs = 600_000;

/**
 * `Attempt 3 failed: <words>. Retrying after 5951ms...`, `Attempt 1 failed with status 503. Retrying with backoff... <error>`.
 * They go on past any deadline and explain a silence, not an end. What the API answered stands in them.
 */
export const geminiRetrying = (stream: StreamFacts, context: Context): Finding | null => {
  const retry = stream.lines.findLast(
    (l) => l.stream === 'stderr' && !l.model_output_after && /^Attempt \d+ failed\b/.test(l.text),
  );
  if (!retry) return null;
  const [, status, after, words] =
    /^Attempt \d+ failed(?: with status (\d+))?(?:\. Retrying with backoff\.\.\.(?: \w*Error: (.*))?|: (.*?)(?:\. Retrying after \d+ms\.\.\.)?)$/s.exec(
      retry.text,
    ) ?? [];
  const said = after ?? words ?? '';
  const row = apiError(said) ?? (status === undefined ? null : { match: any, ...byStatus(Number(status), false) });
  const known = row !== null && row.cause !== 'unknown' ? row : { match: any, cause: 'rate_limited' as const };
  const found = findingOf(known, said, context);
  // Seen: "You have exhausted your capacity" with a reset in seconds. What it means to wait out itself is no end of a plan.
  const waitMs = Number(/\. Retrying after (\d+)ms\.\.\.$/.exec(retry.text)?.[1] ?? 0);
  if (waitMs > 0 && waitMs <= waitsItselfMs && found.cause === 'usage_limit') found.switches = null;
  return { ...found, why: `it was retrying when it ended: "${retry.text.slice(0, 200)}"` };
};

/** The CLI's own exit codes. HTTP statuses come modulo 256, and alone they prove no login: 144 is any HTTP 400. */
export const geminiExit: Record<number, OwnedSentence> = {
  41: { match: any, cause: 'auth_missing' },
  42: { match: any, cause: 'bad_cli_usage' },
  44: { match: any, cause: 'bad_config' },
  52: { match: any, cause: 'bad_config' },
  53: { match: any, cause: 'max_turns' },
  54: { match: any, cause: 'unknown' },
  55: { match: any, cause: 'bad_config' },
  130: { match: any, cause: 'cancelled' },
  144: { match: any, cause: 'invalid_request' },
  145: { match: any, cause: 'auth_failed', switches: null },
  147: { match: any, cause: 'access_denied', switches: null },
  148: { match: any, cause: 'model_unavailable' },
  157: { match: any, cause: 'context_overflow' },
  173: { match: any, cause: 'rate_limited' },
  244: { match: any, cause: 'api_server_error' },
  246: { match: any, cause: 'api_server_error' },
  247: { match: any, cause: 'api_server_error' },
  248: { match: any, cause: 'api_server_error' },
};
