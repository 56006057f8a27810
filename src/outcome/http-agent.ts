/**
 * Agents behind HTTP: what their answer means. Weak evidence: a status code or a sentence of such a service names a cause and
 * never moves a credential, and a 503 alone is never a login. Before acceptance nothing ran, so the next try is safe; after
 * it nothing is sent twice.
 */
import type { HttpFacts, StreamFacts } from '../contract/facts.ts';
import { claudeSucceeded, claudeTerminal } from './claude-failure.ts';
import { withWholeResult } from './drifted-result.ts';
import type { Context, Finding } from './finding.ts';

const answer = (cause: Finding['cause'], why: string, more: Partial<Finding> = {}): Finding => ({
  cause,
  why,
  tier: null,
  confidence: 'likely',
  ...more,
});

export const httpFinding = (http: HttpFacts, told: StreamFacts, context: Context): Finding => {
  const stream = withWholeResult(told);
  if (http.connect_error === 'EANSWERSIZE')
    return answer('malformed_response', http.message ?? 'its answer has no end', { retryable: false });
  if (http.connect_error !== null)
    return answer('agent_unreachable', `the connection failed: ${http.connect_error}`, {
      retryable: !http.accepted,
      confidence: 'proven',
    });
  const why = [`HTTP ${http.status ?? 'without a status'}`, http.error_code, http.termination_reason]
    .filter((v) => v !== null)
    .join(', ');
  const ended = http.termination_reason ?? '';
  if (/cancel|terminate_request/i.test(ended)) return answer('cancelled', why);
  switch (http.status) {
    case 200: {
      if (stream.result !== null && claudeSucceeded(stream.result))
        return answer('success', why, { confidence: 'proven' });
      // Its log is the CLI's own stream, handed on by a service: the cause counts, a switch cannot be decided.
      const failed = claudeTerminal(stream, context);
      return failed === null ? answer('cancelled', `${why}: not a success`) : { ...failed, switches: null };
    }
    case 400:
      return answer('model_unavailable', why);
    case 401:
    case 403:
      return answer('auth_missing', why);
    case 404:
      return answer('no_result', `${why}: it does not know the execution`, { retryable: false });
    case 422:
      return answer('max_turns', why);
    case 429:
      return answer('rate_limited', why);
    case 502:
      return answer('no_result', why, { retryable: false });
    case 503:
      if (http.error_code === 'auth')
        return answer('auth_failed', `${why}: the service says login`, { switches: null });
      return http.accepted
        ? answer('unknown', why, { confidence: 'unknown', retryable: false })
        : answer('agent_unreachable', `${why}: not ready`);
    case 504:
      if (/time|deadline|max_duration/i.test(ended)) return answer('timed_out', why);
      return answer('killed_unknown', why, { confidence: 'unknown' });
    default:
      if (!http.accepted && http.status === null) return answer('agent_unreachable', why);
      return answer('unknown', why, { confidence: 'unknown', retryable: false });
  }
};
