/**
 * What a sentence of Claude Code means: its own sentences (claude-sentences.ts), and its fixed forms around somebody else's
 * words, `API Error: <status> <rest>` and `Request rejected (429) · <rest>`. Read for result texts and `<synthetic>` messages,
 * and for whole lines of plain output. There the rest must show who spoke: the API's own envelope, or an intermediary.
 */
import { anthropicTypes, apiBody, causeOfMessage, isChallenge, looksLikePage } from './anthropic-errors.ts';
import { claudeSentences } from './claude-sentences.ts';
import type { Context, Finding } from './finding.ts';
import { findingOf, type OwnedSentence, sentenceIn } from './owned-lines.ts';

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
  // Behind the page of a 5xx is a server that does not answer; the edge only says so.
  if (looksLikePage(message) && status >= 500) return { match, ...byStatus(status, false) };
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
  // A right of the cloud account, not of the model API.
  if (/^User: arn:aws\S* .*is not authorized to perform\b/.test(message)) return { match, cause: 'access_denied' };
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
