/**
 * How a run ended → the facts a runner would deliver: the lines that Claude Code 2.1 says in that case, read by the real reader,
 * and for a kill what the kernel counted. Drover finds out the cause by itself.
 */
import { emptyFacts, type Facts } from '../../src/contract/facts.ts';
import { createReader } from '../../src/evidence/create.ts';
import type { Fate } from './plan.ts';

const model = 'claude-sonnet-5';
const MiB = 1024 * 1024;

/** Output tokens that cost so much at the list price of the model ($10 per million): what a killed run is summed from. */
const usageOf = (cost: number) => ({
  input_tokens: 0,
  output_tokens: Math.round(cost * 1e5),
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
});

export const factsOf = (
  fate: Fate,
  about: {
    session: string;
    spawned_at: number;
    ended_at: number;
    night_start: number;
    timeout_s: number;
    by_key: boolean;
  },
): Facts => {
  const reader = createReader('claude');
  const say = (event: Record<string, unknown>) =>
    reader.line('stdout', JSON.stringify({ ...event, session_id: about.session }), about.ended_at);
  const usage = usageOf(fate.cost);
  say({
    type: 'system',
    subtype: 'init',
    model,
    permissionMode: 'acceptEdits',
    apiKeySource: about.by_key ? 'ANTHROPIC_API_KEY' : 'none',
    mcp_servers: [],
  });
  if (fate.cost > 0)
    say({ type: 'assistant', message: { id: 'm1', model, content: [{ type: 'text', text: 'I work.' }], usage } });
  const result = (fields: Record<string, unknown>) =>
    say({ type: 'result', subtype: 'success', num_turns: 1, total_cost_usd: fate.cost, usage, ...fields });
  const refused = (text: string, error: string, fields: Record<string, unknown>) => {
    say({
      type: 'assistant',
      error,
      is_api_error_message: true,
      message: { model: '<synthetic>', role: 'assistant', content: [{ type: 'text', text }] },
      ...fields,
    });
    result({ is_error: true, terminal_reason: 'api_error', result: text, ...fields });
  };

  switch (fate.how) {
    case 'good':
      result({ is_error: false, result: 'Done.' });
      break;
    case 'overloaded':
      refused('API Error: 529 Overloaded', 'overloaded', { api_error_status: 529, api_error_type: 'overloaded_error' });
      break;
    case 'rejected':
      refused('Failed to authenticate. API Error: 401 Invalid bearer token', 'authentication_failed', {
        api_error_status: 401,
        api_error_type: 'authentication_error',
      });
      break;
    case 'limit': {
      const resetsAt = Math.ceil((about.night_start + (fate.resetAt ?? 0)) / 1000);
      const info = { status: 'rejected', resetsAt, rateLimitType: 'five_hour', isUsingOverage: false };
      say({ type: 'rate_limit_event', rate_limit_info: info });
      refused("You've hit your 5-hour limit", 'rate_limit', {
        api_error_status: 429,
        api_error: 'usage_limit_reached',
        api_error_type: 'rate_limit_error',
        api_error_params: { rate_limit_info: info },
      });
      break;
    }
    case 'oom':
      break;
    case 'no_space':
      reader.line('stderr', 'Error: ENOSPC: no space left on device, write', about.ended_at);
      break;
    default:
      fate.how satisfies never;
  }

  const killed = fate.how === 'oom';
  return {
    ...emptyFacts('claude'),
    exit_code: killed ? null : fate.how === 'good' ? 0 : 1,
    signal: killed ? 'SIGKILL' : null,
    memory: killed
      ? {
          held_by: 'cgroup_v2',
          limit_bytes: 384 * MiB,
          peak_bytes: 384 * MiB,
          oom_kills_before: 0,
          oom_kills_after: 1,
          oom_group_kills: 0,
          host_oom_kills_before: null,
          host_oom_kills_after: null,
        }
      : null,
    stream: reader.facts(),
    spawned_at: about.spawned_at,
    ended_at: about.ended_at,
    run_ms: fate.ranMs,
    waiting_ms: 0,
    timeout_s: about.timeout_s,
    pid: 4711,
    host: 'night',
    isolation: 'none',
  };
};
