/** How runs of Claude Code end on a login, as facts: shapes of claude-code 2.1.332 as its stream tells them. */
import { emptyStream, type StreamFacts, type StreamSignal } from '../../src/contract/facts.ts';

const signal = (kind: string, data: Record<string, unknown>, at: number): StreamSignal => ({
  kind,
  at,
  model_output_after: false,
  data,
});

const failing = (error: string, type: string, status: number, said: string, at: number): Partial<StreamFacts> => ({
  result: {
    type: 'result',
    subtype: 'success',
    is_error: true,
    result: said,
    terminal_reason: 'api_error',
    api_error_status: status,
    api_error_type: type,
  },
  results_seen: 1,
  signals: [
    signal(
      'assistant_error',
      {
        error,
        is_api_error_message: true,
        api_error_status: status,
        api_error_type: type,
        request_id: 'req_1',
        text: said,
      },
      at,
    ),
  ],
});

export interface LoginEnding {
  exit_code: number;
  stream: Partial<StreamFacts>;
}

const ending = (exit_code: number, stream: Partial<StreamFacts>, session: string): LoginEnding => ({
  exit_code,
  stream: { ...emptyStream('claude'), session_id: session, api_key_source: 'none', ...stream },
});

export const rejectedLogin = (at: number, session = 'cli-1'): LoginEnding =>
  ending(
    1,
    failing('authentication_failed', 'authentication_error', 401, 'Failed to authenticate. API Error: 401 x', at),
    session,
  );

export const usedUp = (at: number, resets_at: number, session = 'cli-1'): LoginEnding => {
  const stream = failing('rate_limit', 'rate_limit_error', 429, "You've hit your 5-hour limit · resets 3pm (UTC)", at);
  const rate_limit_info = { status: 'rejected', rateLimitType: 'five_hour', resetsAt: resets_at / 1000 };
  const limit = signal('rate_limit_rejected', { type: 'rate_limit_event', rate_limit_info }, at);
  return ending(1, { ...stream, signals: [limit, ...stream.signals!] }, session);
};

export const overloadedRun = (at: number, session = 'cli-1'): LoginEnding =>
  ending(1, failing('overloaded', 'overloaded_error', 529, 'API Error: Repeated 529 Overloaded errors', at), session);

export const wentWell = (session = 'cli-1'): LoginEnding =>
  ending(
    0,
    {
      response: 'done',
      model_spoke: true,
      result: { type: 'result', subtype: 'success', is_error: false, result: 'done', session_id: session },
      results_seen: 1,
    },
    session,
  );
