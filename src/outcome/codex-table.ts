/**
 * What Codex says. Its stream has no codes, only sentences (openai/codex#37676): `turn.failed.error.message`, the top-level
 * `error.message`, and the same words on a plain line. Sources: cases/README.md 4.2 (codex-cli 0.171), codex-rs/core/src/error.rs,
 * the public reports named there. Status lines carry a body: the API's JSON, or an intermediary's page.
 */
import type { StreamFacts } from '../contract/facts.ts';
import { byStatus } from './claude-table.ts';
import type { Context, Finding } from './finding.ts';
import { findingOf, type OwnedSentence, sentenceIn } from './owned-lines.ts';
import { rowOf } from './row-of.ts';

const any = /^/;

/** How a turn fails. */
const turnSentences: readonly OwnedSentence[] = [
  { match: /^You[’']ve (hit|reached) your usage limit\b.*$/, cause: 'usage_limit', switches: true },
  { match: /^Your workspace is out of credits\..*$/, cause: 'billing', switches: true },
  { match: /^Quota exceeded\. Check your plan and billing details\.$/, cause: 'billing', switches: true },
  { match: /^You[’']re out of credits\b.*$/, cause: 'billing', switches: true },
  // A cap of the workspace on what its members spend: money, and another login has its own.
  { match: /^You[’']?(ve)? hit (your|the) spend(ing)? (cap|limit)\b.*$/, cause: 'billing', switches: true },
  { match: /^To use Codex with your ChatGPT plan, upgrade to Plus\b.*$/, cause: 'access_denied', switches: true },
  {
    // Another process has refreshed auth.json: read it again and try once more before anything is rotated.
    match: /^Your access token could not be refreshed because your refresh token was already used\..*$/,
    cause: 'auth_failed',
    renews: true,
  },
  // The same in the words of a start, with the body of the answer.
  { match: /^Failed to refresh token: .*\brefresh_token_reused\b.*$/, cause: 'auth_failed', renews: true },
  {
    match: /^Failed to refresh token: .*\b(refresh_token_(expired|invalidated)|invalid_grant)\b.*$/,
    cause: 'auth_failed',
    switches: true,
  },
  { match: /^Your access token could not be refreshed because .*$/, cause: 'auth_failed', switches: true },
  {
    match: /^Your authentication session could not be refreshed automatically\..*$/,
    cause: 'auth_failed',
    switches: true,
  },
  { match: /^We[’']re currently experiencing high demand\b.*$/, cause: 'api_server_error' },
  { match: /^Selected model is at capacity\..*$/, cause: 'overloaded' },
  { match: /^Codex ran out of room in the model[’']s context window\..*$/, cause: 'context_overflow' },
  { match: /^shared rollout token budget exhausted$/, cause: 'budget_exceeded' },
  { match: /^This (request|content|user[’']s access) (has been|was) flagged for\b.*$/, cause: 'policy_refusal' },
  { match: /^Invalid prompt: your prompt was flagged\b.*$/, cause: 'policy_refusal' },
  { match: /^The model `.+` does not exist or you do not have access to it\.$/, cause: 'model_unavailable' },
  { match: /^The '.+' model is not supported when using Codex with a ChatGPT account\.$/, cause: 'model_unavailable' },
  { match: /^The '.+' model requires a newer version of Codex\..*$/, cause: 'model_unavailable' },
  { match: /^Your input exceeds the context window of this model\..*$/, cause: 'context_overflow' },
  { match: /^(rate limit exceeded: )?Rate limit reached for .+$/, cause: 'rate_limited' },
  { match: /^rate limit exceeded\b.*$/, cause: 'rate_limited' },
  // The country or the network, told by the edge: no credential gets past it.
  { match: /^Access blocked by Cloudflare\..*$/, cause: 'edge_blocked', retryable: false },
  {
    match: /^(An error occurred while processing your request|The server had an error)\b.*$/,
    cause: 'api_server_error',
  },
  { match: /^(The )?server is overloaded\b.*$|^server_is_overloaded$/i, cause: 'overloaded' },
  { match: /^Missing environment variable: `.+`\.?.*$/, cause: 'auth_missing' },
  { match: /^Incorrect API key provided\b.*$/, cause: 'auth_failed', switches: true },
  {
    match:
      /^(stream closed before response\.completed|idle timeout waiting for SSE|error sending request\b.*|request timed out|Connection failed: .*)$/,
    cause: 'network_failure',
  },
];

/** What a start that failed prints on stderr. */
const startSentences: readonly OwnedSentence[] = [
  {
    match:
      /^error: (unexpected argument|unrecognized subcommand|invalid value|the argument|the following required|a value is required)\b.*$/,
    cause: 'bad_cli_usage',
  },
  { match: /^No prompt provided( via stdin)?\..*$/, cause: 'bad_cli_usage' },
  { match: /^Not inside a trusted directory and --skip-git-repo-check was not specified\.$/, cause: 'bad_config' },
  { match: /^Error: Model provider `.+` not found$/, cause: 'bad_config' },
  {
    match:
      /^Error: thread\/resume: .*(which is no longer configured\.|Cannot change this thread[’']s model provider) ?.*$/,
    cause: 'bad_config',
  },
  {
    match:
      /^(Error: )?(Error finding codex home|CODEX_HOME points to|Failed to read config file|Error loading (config|configuration)|Failed to load config|error loading config)\b.*$/,
    cause: 'bad_config',
  },
  { match: /^Error: No such file or directory \(os error 2\)$/, cause: 'workdir_missing' },
  {
    match: /^Error: (thread\/resume: )*.*no rollout found for (thread|conversation) id \S+.*$/,
    cause: 'session_not_found',
  },
  // Its own files of a session: no space, quota, descriptors, processes or memory of the host.
  {
    match: /^Error: thread\/(start|resume|fork): .*\(os error (11|12|23|24|28|122)\)( \(code -?\d+\))?$/,
    cause: 'host_resource_exhausted',
  },
  // A CODEX_HOME that may not be written.
  {
    match: /^Error: thread\/(start|resume|fork): .*\(os error (1|13|30)\)( \(code -?\d+\))?$/,
    cause: 'bad_config',
  },
  { match: /^(Error: )?(Missing environment variable: `.+`\.?.*|Not logged in\b.*)$/, cause: 'auth_missing' },
  { match: /^thread '.*' (\(\d+\) )?panicked at .*$/, cause: 'crashed', retryable: false },
  // codex-auth-helper#76, cockpit-tools#547: wrappers that refresh the login and speak Chinese. The code decides, not the words.
  {
    match:
      /^(?=.*\p{Script=Han})(?=.*(\b[Tt]oken\b|令牌|登录|认证|授权))(?=.*(\bstatus[=: ]+401\b|\bHTTP[ /]?401\b|\b401 Unauthorized\b|\b(token_expired|token_invalidated|token_revoked|refresh_token_(reused|expired|invalidated)|invalid_grant)\b)).*$/u,
    cause: 'auth_failed',
    switches: null,
  },
];

/** One sentence, wherever it stood. */
const codexSentence = (raw: string, context: Context, tier: 'structured' | 'line'): Finding | null => {
  const text = raw
    .replace(/^(ERROR|Error): (?=You|Your |Quota|To use|We|Selected|Codex|stream|unexpected|exceeded)/, '')
    .trim();
  const cut = /^stream disconnected before completion: (.*)$/s.exec(text);
  const row = sentenceIn(turnSentences, cut ? cut[1]! : text);
  if (row) return findingOf(row, text, context, tier);
  if (cut) return findingOf({ match: any, cause: 'network_failure' }, text, context, tier);
  const http =
    /^(?:unexpected status|exceeded retry limit, last status:) (\d{3})(?: [A-Z][A-Za-z '-]*)?(?:: ?(.*?))?(?:, (?:url|request id|cf-ray): .*)?$/s.exec(
      text,
    );
  if (http) return findingOf(statusMeans(Number(http[1]), http[2] ?? ''), text, context, tier);
  const body = errorBody(text);
  if (body) return findingOf(bodyMeans(body, body.status ?? 400), text, context, tier);
  return null;
};

interface Body {
  code: string;
  message: string;
  status: number | null;
}

/** A gateway wraps what it was told, as text, once more: three times is more than any that was seen. */
const wrapsMost = 3;

/**
 * `{"detail":"..."}`, `{"detail":{"code":..}}`, `{"error":{"code","type","message"}}`, `{"error":"..."}`, and each of them as the
 * text of another: the innermost is what the API said. A status beside it counts when the line itself tells none.
 */
const errorBody = (text: string, wraps = wrapsMost): Body | null => {
  if (!text.startsWith('{')) return null;
  try {
    const whole = JSON.parse(text) as Record<string, unknown>;
    const from = whole.detail ?? whole.error;
    const fields = (typeof from === 'object' && from !== null ? from : { message: from }) as Record<string, unknown>;
    if (from === undefined || from === null) return null;
    const message = typeof fields.message === 'string' ? fields.message.trim() : '';
    const status = [whole.status, fields.status, fields.code].find((s) => typeof s === 'number' && s >= 400 && s < 600);
    const said =
      [fields.code, fields.type].find((c) => typeof c === 'string' && Object.hasOwn(codes, c)) ??
      fields.code ??
      fields.type;
    const outer = { code: String(said ?? ''), message, status: (status as number | undefined) ?? null };
    const inner = wraps > 0 ? errorBody(message, wraps - 1) : null;
    return inner === null ? outer : { ...inner, code: inner.code || outer.code, status: inner.status ?? outer.status };
  } catch {
    return null;
  }
};

const codes: Record<string, OwnedSentence['cause']> = {
  model_not_found: 'model_unavailable',
  context_length_exceeded: 'context_overflow',
  insufficient_quota: 'billing',
  usage_limit_reached: 'usage_limit',
  usage_not_included: 'access_denied',
  rate_limit_exceeded: 'rate_limited',
  server_is_overloaded: 'overloaded',
  slow_down: 'overloaded',
  invalid_prompt: 'policy_refusal',
  cyber_policy: 'policy_refusal',
  deactivated_workspace: 'access_denied',
  account_deactivated: 'access_denied',
  invalid_api_key: 'auth_failed',
  token_expired: 'auth_failed',
  token_invalidated: 'auth_failed',
  // The country, not the account: another credential meets the same wall.
  unsupported_country_region_territory: 'edge_blocked',
};

const bodyMeans = (body: Body, status: number): OwnedSentence => {
  const known = rowOf(codes, body.code);
  if (known)
    return { match: any, cause: known, switches: true, retryable: known === 'edge_blocked' ? false : undefined };
  const row = sentenceIn(turnSentences, body.message);
  return row ?? { match: any, ...byStatus(status, true) };
};

/** A `cf-ray` proves no page: everything that chatgpt.com answers has one, its own 401 too. */
const statusMeans = (status: number, rest: string): OwnedSentence => {
  const page = /^\s*<|cloudflare/i.test(rest);
  const body = errorBody(rest);
  if (page && body === null) return { match: any, cause: status >= 500 ? 'api_server_error' : 'edge_blocked' };
  if (body !== null) return bodyMeans(body, status);
  if (status === 401)
    return /^Missing (bearer|authentication)\b/i.test(rest)
      ? { match: any, cause: 'auth_missing' }
      : { match: any, cause: 'auth_failed', switches: true };
  const row = sentenceIn(turnSentences, rest);
  return row ?? { match: any, ...byStatus(status, false) };
};

const messageOf = (event: Record<string, unknown>): string => {
  const error = event.error as { message?: unknown } | undefined;
  return typeof error?.message === 'string' ? error.message : typeof event.message === 'string' ? event.message : '';
};

export const codexTerminal = (stream: StreamFacts, context: Context): Finding | null => {
  if (stream.result?.type !== 'turn.failed') return null;
  const message = messageOf(stream.result);
  return (
    codexSentence(message, context, 'structured') ??
    codexPending(stream, context) ?? {
      cause: 'unknown',
      why: `turn.failed with words that are not known: "${message.slice(0, 200)}"`,
      tier: 'structured',
      confidence: 'unknown',
    }
  );
};

/** An `error` and no end of the turn: the stream broke off after its last word. */
export const codexPending = (stream: StreamFacts, context: Context): Finding | null => {
  const error = stream.signals.findLast((s) => s.kind === 'codex_error' && !s.model_output_after);
  return error ? codexSentence(messageOf(error.data), context, 'structured') : null;
};

/**
 * `Reconnecting... 2/5 (why)` and `Reconnecting... waiting for network (why)`: never an end by itself. DNS, refused, TLS and proxy
 * 407 all read "waiting for network", for ever; a counted try says in its brackets what the API answered.
 */
export const codexRetrying = (stream: StreamFacts): Finding | null => {
  const last = stream.signals.findLast((s) => s.kind === 'codex_reconnecting' && !s.model_output_after);
  if (!last) return null;
  const said = /^Reconnecting\.\.\. \d+\/\d+ \((.*)\)$/s.exec(messageOf(last.data))?.[1];
  const answered = said === undefined ? null : codexSentence(said, { now: null, zone: 'UTC' }, 'structured');
  return {
    cause: answered?.cause ?? 'network_failure',
    why: `it was reconnecting when it ended${said === undefined ? '' : `: "${said.slice(0, 200)}"`}`,
    tier: 'structured',
    confidence: 'likely',
    // It was still trying: that names a cause, and decides nothing about a login.
    switches: null,
  };
};

export const codexLine = (line: string, context: Context): Finding | null => {
  const row = sentenceIn(startSentences, line);
  return row ? findingOf(row, line, context) : codexSentence(line, context, 'line');
};

/** Exit codes of clap and of a Rust panic. */
export const codexExit: Record<number, OwnedSentence> = {
  2: { match: any, cause: 'bad_cli_usage' },
  101: { match: any, cause: 'crashed', retryable: false },
};
