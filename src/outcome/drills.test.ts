/** Drills 16, 18, 19, 20 and 22 at the level of facts: how an ending reads, and that only real login evidence touches a login. */
import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { emptyFacts, type Facts } from '../contract/facts.ts';
import type { StopReason } from '../contract/stop-reasons.ts';
import { createReader } from '../evidence/create.ts';
import { type DiagnoseOptions, diagnose } from './diagnose.ts';

const assistant = (text: string, more: Record<string, unknown> = {}) => ({
  type: 'assistant',
  message: {
    id: `msg_${text}`,
    model: 'claude-sonnet-4-5',
    content: [{ type: 'text', text }],
    usage: { input_tokens: 100, output_tokens: 20 },
  },
  parent_tool_use_id: null,
  ...more,
});
const synthetic = (text: string, error: string, more: Record<string, unknown> = {}) => ({
  type: 'assistant',
  message: { model: '<synthetic>', content: [{ type: 'text', text }] },
  error,
  is_api_error_message: true,
  ...more,
});

const claude = (ending: Partial<Facts>, events: unknown[] = [], stderr: string[] = []): Facts => {
  const reader = createReader('claude');
  for (const event of events) reader.line('stdout', JSON.stringify(event), 1);
  for (const line of stderr) reader.line('stderr', line, 1);
  return { ...emptyFacts('claude'), spawned_at: 1, ended_at: 1_796_000_000_000, ...ending, stream: reader.facts() };
};
const command = (ending: Partial<Facts>, stderr: string[] = []): Facts => ({
  ...claude(ending, [], stderr),
  stream: { ...claude({}, [], stderr).stream, cli: 'command' },
});
const stop = (reason: StopReason) => ({ reason, at: 1, detail: null });
const judge = (facts: Facts, options?: DiagnoseOptions) => diagnose(facts, options);

describe('a runner that has no holder, or was restarted before the start', () => {
  it.each(['runner_restarted', 'not_ready'])(
    verifies('R35', 'R24')('%s: is lost, and the work is done again'),
    (code) => {
      const verdict = judge(command({ spawned_at: null, prepare_error: { code, message: 'nothing ran' } }));
      expect(verdict).toMatchObject({ cause: 'runner_lost', retryable: true, switch_credential: false });
    },
  );
});

describe('drill 16: every way to end is typed, and none touches a credential', () => {
  const endings: [string, Partial<Facts>, string, string | null][] = [
    ['SIGKILL', { signal: 'SIGKILL' }, 'killed_unknown', 'SIGKILL'],
    ['SIGTERM', { signal: 'SIGTERM' }, 'killed_unknown', 'SIGTERM'],
    ['SIGINT', { signal: 'SIGINT' }, 'killed_unknown', 'SIGINT'],
    ['exit 137', { exit_code: 137 }, 'killed_unknown', 'SIGKILL'],
    ['exit 143', { exit_code: 143 }, 'killed_unknown', 'SIGTERM'],
    ['exit 130', { exit_code: 130 }, 'killed_unknown', 'SIGINT'],
    ['exit 134', { exit_code: 134 }, 'crashed', 'SIGABRT'],
    ['exit 139', { exit_code: 139 }, 'crashed', 'SIGSEGV'],
    ['exit 126', { exit_code: 126 }, 'spawn_not_executable', 'exit 126'],
    ['exit 127', { exit_code: 127 }, 'spawn_not_found', 'exit 127'],
    ['exit 0 without a result', { exit_code: 0 }, 'no_result', 'exit 0'],
    [
      'a missing binary',
      {
        spawn_error: {
          code: 'ENOENT',
          syscall: 'spawn',
          path: '/opt/claude',
          message: 'spawn /opt/claude ENOENT',
          cwd_exists: true,
          binary_exists: false,
        },
      },
      'spawn_not_found',
      null,
    ],
  ];
  it.each(endings)(verifies('D16', 'R33')('%s'), (_name, ending, cause, mechanism) => {
    const verdict = judge(claude(ending));
    expect(verdict).toMatchObject({ cause, mechanism });
    expect(verdict.switch_credential).not.toBe(true);
    if (cause !== 'no_result') expect(judge(command(ending))).toMatchObject({ cause });
  });

  it(verifies('D16', 'R33')('a program of the command adapter succeeds by exit 0 alone'), () => {
    expect(judge(command({ exit_code: 0 }))).toMatchObject({ cause: 'success', message: '' });
  });

  it(
    verifies('D16')('a directory that is gone is told apart from a program that is gone, although Node says the same'),
    () => {
      const error = {
        code: 'ENOENT',
        syscall: 'spawn',
        path: 'claude',
        message: 'spawn claude ENOENT',
        cwd_exists: false,
        binary_exists: true,
      };
      expect(judge(claude({ spawn_error: error })).cause).toBe('workdir_missing');
      expect(judge(claude({ spawn_error: { ...error, cwd_exists: true } })).cause).toBe('spawn_not_executable');
    },
  );
});

describe('drill 18: words are no evidence', () => {
  const words = [
    'Error reading room 401',
    'job 7b1e0403-0403-4a01-9401-000000000429 failed',
    'HTTP/1.1 401 Unauthorized',
    'the rate limit is 429 requests; usage limit reached',
  ];
  it.each(words)(
    verifies('D18', 'R35')('"%s" on stderr, in tool output and in the answer gives no login and no limit'),
    (text) => {
      const toolResult = {
        type: 'user',
        message: { content: [{ type: 'tool_result', tool_use_id: 't', content: text, is_error: true }] },
      };
      const events = [toolResult, assistant(text)];
      const failed = judge(claude({ exit_code: 1 }, events, [text]));
      expect(failed.cause).toBe('unknown');
      expect(failed.switch_credential).not.toBe(true);
      const good = judge(
        claude(
          { exit_code: 0 },
          [...events, { type: 'result', subtype: 'success', is_error: false, result: text }],
          [text],
        ),
      );
      expect(good).toMatchObject({ cause: 'success', switch_credential: false });
      expect(judge(command({ exit_code: 1 }, [text]))).toMatchObject({ cause: 'unknown', switch_credential: false });
    },
  );
});

describe('drill 19: real evidence is believed, at any turn', () => {
  const work = Array.from({ length: 12 }, (_, i) => assistant(`turn ${i}`));
  const result = (more: Record<string, unknown>) => ({
    type: 'result',
    subtype: 'success',
    is_error: true,
    terminal_reason: 'api_error',
    num_turns: 12,
    ...more,
  });

  it(verifies('D19', 'R36')('a 401 at turn 12 after tokens were spent is auth_failed and may switch'), () => {
    const text = 'Failed to authenticate. API Error: 401 OAuth token has expired.';
    const events = [
      ...work,
      synthetic(text, 'authentication_failed', {
        api_error_status: 401,
        api_error_type: 'authentication_error',
        request_id: 'req_1',
      }),
      result({ api_error_status: 401, api_error_type: 'authentication_error', result: text }),
    ];
    expect(judge(claude({ exit_code: 1 }, events))).toMatchObject({
      cause: 'auth_failed',
      switch_credential: true,
      confidence: 'proven',
      tier: 'structured',
      retryable: false,
    });
  });

  it(verifies('D19', 'R36')('a 429 of the plan with zero tokens is usage_limit with its reset'), () => {
    const info = { status: 'rejected', resetsAt: 1_796_070_472, rateLimitType: 'five_hour' };
    const text = "You've hit your 5-hour limit · resets 8:27pm (UTC)";
    const events = [
      { type: 'rate_limit_event', rate_limit_info: info },
      synthetic(text, 'rate_limit', {
        api_error_status: 429,
        api_error: 'usage_limit_reached',
        api_error_type: 'rate_limit_error',
      }),
      result({
        api_error_status: 429,
        api_error: 'usage_limit_reached',
        api_error_type: 'rate_limit_error',
        result: text,
      }),
    ];
    expect(judge(claude({ exit_code: 1 }, events))).toMatchObject({
      cause: 'usage_limit',
      switch_credential: true,
      reset_at: 1_796_070_472_000,
    });
  });

  it(verifies('D19', 'R36')('a content refusal with exit 1 and zero tokens is not a login'), () => {
    const text = 'API Error: Output blocked by content filtering policy';
    const events = [
      synthetic(text, 'invalid_request', { api_error_status: 400, api_error_type: 'invalid_request_error' }),
      result({ api_error_status: 400, api_error_type: 'invalid_request_error', result: text }),
    ];
    expect(judge(claude({ exit_code: 1 }, events))).toMatchObject({
      cause: 'policy_refusal',
      switch_credential: false,
    });
  });

  it(verifies('D19', 'R36')('a page of a proxy is not a login, whatever class the CLI gives it'), () => {
    const text = 'Failed to authenticate. API Error: 403 Attention Required! | Cloudflare';
    const events = [
      synthetic(text, 'authentication_failed', { api_error_status: 403 }),
      result({ api_error_status: 403, result: text }),
    ];
    expect(judge(claude({ exit_code: 1 }, events))).toMatchObject({ cause: 'edge_blocked', switch_credential: false });
  });

  it(verifies('R28', 'R36')('a run that we stopped because it only repeated 401s is judged by them'), () => {
    const retry = (attempt: number) => ({
      type: 'system',
      subtype: 'api_retry',
      attempt,
      max_retries: 10,
      error_status: 401,
      error: 'authentication_failed',
    });
    const events = [retry(1), retry(2), retry(3)];
    expect(judge(claude({ exit_code: 0, stop: stop('evidence_stop') }, events))).toMatchObject({
      cause: 'auth_failed',
      switch_credential: true,
    });
    // The same retries under a kill from outside say nothing about the end.
    expect(judge(claude({ signal: 'SIGKILL' }, events))).toMatchObject({
      cause: 'killed_unknown',
      switch_credential: false,
    });
  });
});

describe('drill 20: the terminal event of the prompt outranks what follows', () => {
  const done = { type: 'result', subtype: 'success', is_error: false, result: 'done', total_cost_usd: 0.12 };
  it(verifies('D20', 'R33')('success and then SIGTERM is a success, with the mechanism noted'), () => {
    for (const ending of [{ signal: 'SIGTERM' }, { exit_code: 143 }, { signal: 'SIGTERM', stop: stop('teardown') }]) {
      const verdict = judge(claude(ending, [assistant('done'), done]));
      expect(verdict).toMatchObject({ cause: 'success', mechanism: 'SIGTERM', message: '' });
    }
  });

  it(verifies('D20', 'R33')('subtype success with is_error is a failure'), () => {
    const failed = { ...done, is_error: true, result: 'API Error: 500 Internal server error' };
    expect(judge(claude({ exit_code: 1 }, [failed])).cause).not.toBe('success');
    expect(judge(claude({ exit_code: 0 }, [failed])).cause).not.toBe('success');
  });

  it(verifies('D21', 'R33')('the first result counts, a later bogus one does not'), () => {
    const late = { type: 'result', subtype: 'error_during_execution', is_error: true, errors: ['late'] };
    const facts = claude({ exit_code: 1 }, [assistant('done'), done, late]);
    expect(facts.stream.results_seen).toBe(2);
    expect(judge(facts)).toMatchObject({ cause: 'success', mechanism: 'exit 1' });
  });

  it(verifies('D17', 'R35')('a tool that the kernel killed is noted and not blamed on the run'), () => {
    const memory = {
      held_by: 'cgroup_v1' as const,
      limit_bytes: 1,
      peak_bytes: 1,
      oom_kills_before: 2,
      oom_kills_after: 3,
      oom_group_kills: null,
      host_oom_kills_before: null,
      host_oom_kills_after: null,
    };
    expect(judge(claude({ exit_code: 0, memory }, [done]))).toMatchObject({
      cause: 'success',
      attention: ['tool_oom'],
    });
    expect(judge(claude({ signal: 'SIGKILL', memory }))).toMatchObject({
      cause: 'oom_killed',
      confidence: 'proven',
      attention: [],
    });
    expect(judge(claude({ signal: 'SIGKILL', memory: { ...memory, oom_kills_after: 2 } })).cause).toBe(
      'killed_unknown',
    );
  });
});

describe('drill 22: our own stops are told apart, and from an outside kill', () => {
  const stops: [StopReason, string][] = [
    ['cancel', 'cancelled'],
    ['deadline', 'timed_out'],
    ['stall', 'stalled'],
    ['log_limit', 'log_limit'],
    ['memory_limit', 'memory_limit'],
    ['shutdown', 'shutdown'],
  ];
  it.each(stops)(verifies('D22', 'R28')('%s is %s, whatever signal or code it ended with'), (reason, cause) => {
    for (const ending of [{ signal: 'SIGKILL' }, { exit_code: 143 }, { exit_code: 0 }, { exit_code: 1 }]) {
      const verdict = judge(claude({ ...ending, stop: stop(reason) }));
      expect(verdict).toMatchObject({ cause, confidence: 'proven', switch_credential: false });
      expect(verdict.message).not.toContain('Likely cause');
    }
  });

  it(verifies('D22')('no recorded stop means a kill from outside'), () => {
    expect(judge(claude({ signal: 'SIGTERM' })).cause).toBe('killed_unknown');
  });

  it(verifies('D22', 'R35')('what was wrong before the stop stays visible as secondary'), () => {
    const retry = { type: 'system', subtype: 'api_retry', attempt: 4, error_status: 529, error: 'overloaded' };
    expect(judge(claude({ signal: 'SIGTERM', stop: stop('deadline') }, [retry]))).toMatchObject({
      cause: 'timed_out',
      secondary: ['overloaded'],
    });
    const auth = { ...retry, attempt: 1, error_status: 401, error: 'authentication_failed' };
    expect(judge(claude({ signal: 'SIGKILL', stop: stop('cancel') }, [auth]))).toMatchObject({
      cause: 'cancelled',
      secondary: ['auth_failed'],
      switch_credential: false,
    });
  });

  it(verifies('D22')('a stall names the tool that hung'), () => {
    const call = {
      type: 'assistant',
      message: {
        id: 'm',
        model: 'x',
        content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'sleep 9999' } }],
      },
    };
    expect(judge(claude({ signal: 'SIGTERM', stop: stop('stall') }, [call])).message).toContain('in the tool Bash');
  });

  it(verifies('R30')('denied tools and another permission mode are marked on a success'), () => {
    const init = { type: 'system', subtype: 'init', permissionMode: 'default' };
    const done = {
      type: 'result',
      subtype: 'success',
      is_error: false,
      result: 'ok',
      permission_denials: [{ tool_name: 'Write', tool_input: {} }],
    };
    expect(judge(claude({ exit_code: 0 }, [init, done]), { permissionMode: 'acceptEdits' })).toMatchObject({
      cause: 'success',
      attention: ['blocked_tools', 'permission_mode_differs'],
    });
  });
});

describe('agents behind HTTP', () => {
  const http = {
    accepted: true,
    status: null,
    error_code: null,
    message: null,
    termination_reason: null,
    connect_error: null,
  };
  const answered = (more: Partial<typeof http> | Record<string, unknown>) =>
    judge({ ...emptyFacts('http'), http: { ...http, ...more } });

  it(verifies('R15')('one that was not reached before acceptance is unreachable, and may be tried again'), () => {
    expect(answered({ accepted: false, connect_error: 'ECONNREFUSED' })).toMatchObject({
      cause: 'agent_unreachable',
      retryable: true,
    });
    expect(answered({ accepted: true, connect_error: 'ECONNRESET' })).toMatchObject({
      cause: 'agent_unreachable',
      retryable: false,
    });
  });

  it(verifies('R36')('a 503 alone is never a login, and no answer of a service switches'), () => {
    expect(answered({ accepted: false, status: 503 }).cause).toBe('agent_unreachable');
    expect(answered({ status: 503 }).cause).toBe('unknown');
    for (const status of [400, 401, 403, 404, 422, 429, 502, 503, 504, 500])
      expect(answered({ status, message: 'oauth token expired, unauthorized' }).switch_credential).not.toBe(true);
  });

  it('504 says by its reason whether time was up', () => {
    expect(answered({ status: 504, termination_reason: 'timeout' }).cause).toBe('timed_out');
    expect(answered({ status: 504, termination_reason: 'SIGKILL' }).cause).toBe('killed_unknown');
  });
});
