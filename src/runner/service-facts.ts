/** What an HTTP agent answered → the fields of the facts. Copies, never interprets: a 503 stays a 503. Pure. */
import type { HttpFacts, StreamFacts, Usage } from '../contract/facts.ts';
import { asCount, asMoney, asName, clipText } from '../evidence/clip.ts';
import type { Asked, Sent } from './adapters/http.ts';

/** How the service's part ended: its answer, or why there is none. */
export type Ending = Exclude<Sent, { kind: 'accepted' }> | Extract<Asked, { kind: 'unknown_id' }>;

/** A sentence for people; and an answer, as long as the line of a CLI that holds one. */
const sentenceMost = 4_000;
const answerMost = 4 * 1024 * 1024;
const sentence = (value: unknown): string | null => (typeof value === 'string' ? clipText(value, sentenceMost) : null);
const count = (value: unknown): number | null => (typeof value === 'number' && value >= 0 ? asCount(value) : null);
const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** `ending` null = stopped or cut off before the service said anything. */
export const httpFactsOf = (sent: Sent | null, ending: Ending | null): HttpFacts => {
  const none = { status: null, error_code: null, message: null, termination_reason: null, connect_error: null };
  if (ending === null) return { ...none, accepted: sent !== null && sent.kind !== 'not_accepted' };
  switch (ending.kind) {
    case 'answered': {
      const { status, body } = ending;
      return {
        // 503 without a run behind it: not ready, or not logged in. Either way nothing was started.
        accepted: status !== 503 || 'metadata' in body || 'execution_log' in body,
        status,
        error_code: asName(body.error_code),
        message: sentence(body.message) ?? sentence(body.detail) ?? sentence(body.error),
        termination_reason: asName(body.termination_reason),
        connect_error: null,
      };
    }
    case 'not_accepted':
      return { ...none, accepted: false, message: ending.message, connect_error: ending.code };
    case 'unclear':
      return { ...none, accepted: true, message: ending.message, connect_error: ending.code };
    case 'unknown_id':
      return { ...none, accepted: true, status: 404, message: 'The service does not know the execution any more.' };
    default:
      return ending satisfies never;
  }
};

const usageOf = (m: Record<string, unknown>): Usage | null => {
  const input = count(m.input_tokens);
  const output = count(m.output_tokens);
  if (input === null && output === null) return null;
  return {
    input_tokens: input ?? 0,
    output_tokens: output ?? 0,
    cache_read_tokens: count(m.cache_read_tokens) ?? 0,
    cache_write_tokens: count(m.cache_creation_tokens) ?? 0,
  };
};

/** What the entries of its log say, and what the answer says besides. */
export const streamOf = (fromLog: StreamFacts, ending: Ending | null): StreamFacts => {
  if (ending?.kind !== 'answered') return fromLog;
  const { status, body } = ending;
  const metadata = record(body.metadata);
  const said = asName(body.status);
  const good = status === 200 && (said === null || said === 'success');
  const response = typeof body.response === 'string' ? clipText(body.response, answerMost) : null;
  return {
    ...fromLog,
    session_id: asName(body.session_id) ?? asName(metadata.session_id) ?? fromLog.session_id,
    response: response ?? fromLog.response,
    // The service's own word that the work is done is its terminal event.
    result:
      fromLog.result ??
      (good ? { type: 'result', subtype: 'success', is_error: false, result: sentence(response), from: 'http' } : null),
    results_seen: Math.max(fromLog.results_seen, good ? 1 : 0),
    model_spoke: fromLog.model_spoke || (good && response !== null && response !== ''),
    usage: usageOf(metadata) ?? fromLog.usage,
    cost_usd: asMoney(metadata.cost_usd) ?? fromLog.cost_usd,
    turns: count(metadata.num_turns) ?? fromLog.turns,
    tool_calls: count(metadata.tool_calls) ?? fromLog.tool_calls,
    context_used: count(metadata.context_used) ?? fromLog.context_used,
  };
};
