/**
 * The sentences that Claude Code owns, whole. Sources: cases/README.md 4.1 (2.1.332, 2.1.197), code.claude.com/docs/en/errors,
 * and the public reports named there for older builds (`|epoch` 1.0.x, `∙` 2.0.x, raw JSON bodies 2.0.x). Read for result
 * texts and `<synthetic>` messages, and for whole lines of plain output.
 */
import { anthropicTypes, apiBody, causeOfMessage, isChallenge, looksLikePage } from './anthropic-errors.ts';
import type { Context, Finding } from './finding.ts';
import { findingOf, type OwnedSentence, sentenceIn } from './owned-lines.ts';

/** `· do this` at the end of a sentence; older builds used other dots. */
const advice = '(?: [·∙] .+)?';
const re = (body: string): RegExp => new RegExp(`^${body}$`);

export const claudeSentences: readonly OwnedSentence[] = [
  // -- login
  { match: re(`Invalid API key [·∙] (Fix external API key|Please run /login)`), cause: 'auth_failed', switches: true },
  {
    match: re(`Failed to authenticate: OAuth session expired and could not be refreshed\\.?${advice}`),
    cause: 'auth_failed',
    switches: true,
  },
  {
    match: re(`(Failed to authenticate: )?OAuth token (revoked|has expired)\\b.*`),
    cause: 'auth_failed',
    switches: true,
  },
  { match: re(`Not logged in [·∙] .+`), cause: 'auth_missing' },
  // -- account
  {
    match: re(`Your organization has disabled Claude subscription access for Claude Code${advice}`),
    cause: 'access_denied',
    switches: true,
  },
  {
    match: re(`(API Error: 400 )?This organization has been disabled\\.?${advice}`),
    cause: 'access_denied',
    switches: true,
  },
  {
    match: re(`Your ANTHROPIC_API_KEY belongs to a disabled organization${advice}`),
    cause: 'access_denied',
    switches: true,
  },
  { match: re(`Your account does not have access to Claude( Code)?\\b.*`), cause: 'access_denied', switches: true },
  // -- money, before the limits whose words it shares
  { match: re(`Credit balance is too low${advice}`), cause: 'billing', switches: true },
  { match: re(`You[’']re out of (usage credits|extra usage)${advice}`), cause: 'billing', switches: true },
  {
    match: re(`You[’']ve hit your (org(anization)?[’']s )?(monthly )?spend(ing)? limit${advice}`),
    cause: 'billing',
    switches: true,
  },
  // -- windows of the plan
  {
    match: re(`Claude (AI )?usage limit reached(\\|\\d{10,13}|\\.?( Your limit will reset at .+)?)`),
    cause: 'usage_limit',
    switches: true,
  },
  {
    match: re(`(5-hour|Session|Weekly|Usage|Opus( weekly)?|Sonnet( weekly)?|Opus 4) limit reached( [·∙] .+)?`),
    cause: 'usage_limit',
    switches: true,
  },
  {
    match: re(
      `You[’']ve hit your ((5-hour|session|weekly|usage|daily|monthly|Opus|Sonnet|Fable)( weekly)? )?limit${advice}`,
    ),
    cause: 'usage_limit',
    switches: true,
  },
  {
    match: re(
      `(API Error: (400|429) )?You have reached your specified (workspace )?API usage limits\\. You will regain access on .+`,
    ),
    cause: 'usage_limit',
    switches: true,
  },
  // -- throttling: never the plan, whatever words it has
  { match: re(`API Error: Rate limit reached${advice}`), cause: 'rate_limited' },
  {
    match: re(`API Error: Server is temporarily limiting requests \\(not your usage limit\\)${advice}`),
    cause: 'rate_limited',
  },
  // -- model
  {
    match: re(`(API Error: )?(Usage credits required|Extra usage is required) for (1M|long) context\\b.*`),
    cause: 'model_unavailable',
  },
  {
    match: re(
      `There's an issue with the selected model \\(.+\\)\\. It may not exist or you may not have access to it\\..*`,
    ),
    cause: 'model_unavailable',
  },
  {
    match: re(`API Error: 400 Claude Code \\S+ does not support this model; version \\S+ or newer is required\\.`),
    cause: 'model_unavailable',
  },
  { match: re(`Claude \\S+ is not available with the Claude \\S+ plan\\b.*`), cause: 'model_unavailable' },
  // -- sizes
  { match: re(`Prompt is too long\\b.*`), cause: 'context_overflow' },
  { match: re(`Request too large \\(max \\d+ ?MB\\)\\..*`), cause: 'context_overflow' },
  { match: re(`API Error: The model has reached its context window limit\\.`), cause: 'context_overflow' },
  { match: re(`API Error: Claude's response exceeded the \\d+ output token maximum\\..*`), cause: 'output_limit' },
  // -- refusals
  { match: re(`(API Error: )?(400 )?Output blocked by content filtering policy\\.?`), cause: 'policy_refusal' },
  { match: re(`API Error: .+ safeguards flagged this message\\b.*`), cause: 'policy_refusal' },
  {
    match: re(
      `API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy\\b.*`,
    ),
    cause: 'policy_refusal',
  },
  { match: re(`API Error: 400 due to tool use concurrency issues\\.${advice}`), cause: 'invalid_request' },
  // -- provider
  { match: re(`API Error: Repeated 529 Overloaded errors\\b.*`), cause: 'overloaded' },
  // -- on the way
  { match: re(`API Error: .*\\((ERR_PROXY_TUNNEL|ERR_PROXY_\\w+)\\).*`), cause: 'edge_blocked', retryable: false },
  { match: re(`API Error: Unable to connect to API \\((EPROTO|ERR_SSL_\\w+|ERR_TLS_\\w+)\\)`), cause: 'tls_failure' },
  {
    match: re(`API Error: Unable to connect to API: (Self-signed certificate detected|SSL certificate|TLS)\\b.*`),
    cause: 'tls_failure',
  },
  {
    match: re(`API Error: .*\\((\\w*SELF_SIGNED_CERT\\w*|CERT_\\w+|UNABLE_TO_\\w+|\\w*ALTNAME_INVALID)\\).*`),
    cause: 'tls_failure',
  },
  {
    match: re(
      `(API Error: )?(Connection|Can't reach the API server|Unable to connect to API)\\b.*\\((E[A-Z_]+|UND_ERR_\\w+|ConnectionRefused|FailedToOpenSocket|ConnectionClosed)\\).*`,
    ),
    cause: 'network_failure',
  },
  {
    match: re(`API Error: (Connection error|Connection closed mid-response|Unable to connect to API)\\.?.*`),
    cause: 'network_failure',
  },
  {
    match: re(
      `(API Error: )?(The response stopped arriving\\.|[Ss]tream idle: no bytes for|Response stalled|Request timed out\\b).*`,
    ),
    cause: 'network_failure',
  },
  { match: re(`API Error: API returned an empty or malformed response \\(HTTP 200\\).*`), cause: 'malformed_response' },
  // -- set-up: the first lines of a start that failed
  { match: re(`No conversation found with session ID: \\S+`), cause: 'session_not_found' },
  {
    match: re(`error: (unknown option|option|too many arguments|unknown command|missing required argument)\\b.*`),
    cause: 'bad_cli_usage',
  },
  {
    match: re(`Error: Input must be provided either through stdin or as a prompt argument when using --print`),
    cause: 'bad_cli_usage',
  },
  {
    match: re(`Error: (--|When using --|Cannot use (both )?--|Invalid session ID|Session ID ).*`),
    cause: 'bad_cli_usage',
  },
  { match: re(`Error: Invalid MCP configuration:.*`), cause: 'bad_config' },
  { match: re(`(Error: )?(MCP config|Settings) file not found: .+`), cause: 'bad_config' },
  {
    match: re(`Error: (Invalid settings|Error processing settings|Invalid JSON provided to --settings)\\b.*`),
    cause: 'bad_config',
  },
  { match: re(`Configuration error in .+`), cause: 'bad_config' },
  { match: re(`--dangerously-skip-permissions cannot be used with root/sudo privileges\\b.*`), cause: 'bad_config' },
  // -- said by the vendor's SDK when the program did not start
  {
    match: re(
      `(ReferenceError: |Error: )?Claude Code (executable|native binary) not found at .+|(HTTP 503: )?Claude Code is not available in this container\\.?`,
    ),
    cause: 'spawn_not_found',
  },
  { match: re(`Error: Failed to spawn Claude Code process: (E2BIG|ENAMETOOLONG)\\b.*`), cause: 'spawn_args_too_long' },
  { match: re(`Error: Failed to spawn Claude Code process: (EACCES|ENOEXEC)\\b.*`), cause: 'spawn_not_executable' },
];

/** Wrappers that repeat the CLI's sentence unchanged after these words: paperclip, the vendor's SDK. Others are not listed. */
const listedPrefixes = [/^Claude run failed: subtype=\w+: /, /^(Error: )?Claude Code returned an error result: /];

/** The finding of one sentence of Claude Code, or null. `tier` says where it was read. */
export const claudeSentence = (raw: string, context: Context, tier: 'structured' | 'line' = 'line'): Finding | null => {
  const prefix = listedPrefixes.find((p) => p.test(raw));
  const text = (prefix ? raw.replace(prefix, '') : raw).trim();
  const row = sentenceIn(claudeSentences, text);
  if (row) return findingOf(row, text, context, tier);
  const rejected = /^API Error: Request rejected \(429\) [·∙-] (.*)$/s.exec(text);
  if (rejected) return findingOf(rejected429(rejected[1]!), text, context, tier);
  const form = /^(?:Please run \/login · )?(?:(Failed to authenticate\.) )?(?:API )?Error: (?:(\d{3})\b ?)?(.*)$/s.exec(
    text,
  );
  if (!form || (!form[1] && !form[2])) return null;
  const rest = form[3]!.replace(/ · Please run \/login$/, '');
  const meant = httpSentence(Number(form[2] ?? 0), rest, form[1] !== undefined);
  return meant.cause === 'unknown' ? null : findingOf(meant, text, context, tier);
};

/** A gateway's or the API's own words behind the CLI's fixed form for a rejected 429. */
const rejected429 = (message: string): OwnedSentence => {
  const match = /^/;
  if (/^(insufficient|not enough) (balance|credits?|quota)\b/i.test(message))
    return { match, cause: 'billing', switches: true };
  if (/^(you have (reached|exceeded) (your|the) )?usage limit (exceeded|reached)\b/i.test(message))
    return { match, cause: 'usage_limit', switches: true };
  return { match, cause: 'rate_limited' };
};

/** `API Error: <status> <rest>`: the rest is the API's envelope, another JSON body, plain words, or a page. */
const httpSentence = (status: number, rest: string, saysAuthenticate: boolean): OwnedSentence => {
  const match = /^/;
  const body = apiBody(rest);
  const message = body ? body.message : rest;
  if (body?.proven) {
    const cause = causeOfMessage(message) ?? anthropicTypes[body.type!]!;
    return { match, cause, switches: true };
  }
  if (looksLikePage(message) || status === 407)
    return { match, cause: 'edge_blocked', retryable: isChallenge(message) };
  const known = body === null ? causeOfMessage(message) : null;
  if (known !== null) return { match, cause: known, switches: true };
  // AWS STS and key helpers: the credential is renewed outside of Drover; another subscription would change nothing.
  if (
    status === 403 &&
    /^(The security token included in the request is (expired|invalid)\.?|Invalid Token\.?)$/i.test(message)
  )
    return { match, cause: 'auth_failed', switches: false, renews: true };
  if (status === 401) return { match, cause: 'auth_failed', switches: saysAuthenticate && body === null ? true : null };
  return { match, ...byStatus(status, false) };
};

/** What a bare HTTP status means when nothing else is known. `typed`: the API's own error type came with it. */
export const byStatus = (
  status: number,
  typed: boolean,
): { cause: OwnedSentence['cause']; retryable?: boolean; switches?: boolean | null } => {
  if (status === 401) return { cause: 'auth_failed', switches: typed ? true : null };
  if (status === 402) return { cause: 'billing', switches: typed ? true : null };
  if (status === 403)
    return typed ? { cause: 'access_denied', switches: true } : { cause: 'edge_blocked', retryable: false };
  // Without a type an answer of 404 or 405 is no model API at all: a wrong base URL (paperclip#12105).
  if (status === 404) return { cause: typed ? 'model_unavailable' : 'bad_config' };
  if (status === 405) return { cause: 'bad_config' };
  if (status === 407) return { cause: 'edge_blocked', retryable: false };
  if (status === 408) return { cause: 'network_failure' };
  if (status === 413) return { cause: 'context_overflow' };
  if (status === 429) return { cause: 'rate_limited' };
  if (status === 529) return { cause: 'overloaded' };
  if (status >= 500 && status < 600) return { cause: 'api_server_error' };
  if (status >= 400 && status < 500) return { cause: 'invalid_request' };
  return { cause: 'unknown' };
};
