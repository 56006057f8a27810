/**
 * Further endings of the kinds in cases/README.md, written from the vendors' own sentences and the reports it names, so that
 * the tables are held by more than the collection. `switch`: true, false, or null = not decidable.
 */
import { describe, expect, it } from 'vitest';
import { casesNow } from '../../test/support/cases.ts';
import { verifies } from '../../test/support/verifies.ts';
import type { Cause } from '../contract/causes.ts';
import { diagnoseRow, type EvidenceRow } from './from-evidence-row.ts';

type Row = Partial<Omit<EvidenceRow, 'id' | 'cli'>>;
type Line = [name: string, row: Row, cause: Cause, switches?: boolean | null];

const synthetic = (text: string, error: string, more: Record<string, unknown> = {}) =>
  JSON.stringify({
    type: 'assistant',
    message: { model: '<synthetic>', content: [{ type: 'text', text }] },
    error,
    is_api_error_message: true,
    ...more,
  });
const failed = (result: string, more: Record<string, unknown> = {}) => ({
  type: 'result',
  subtype: 'success',
  is_error: true,
  terminal_reason: 'api_error',
  result,
  ...more,
});
const api = (status: number, type: string) => ({ api_error_status: status, api_error_type: type });
const ok = { type: 'result', subtype: 'success', is_error: false, result: 'done' };

const claude: Line[] = [
  ['login expired', { exit_code: 1, stdout_tail: 'Login expired · Please run /login' }, 'auth_failed', true],
  [
    'refresh failed, with advice',
    {
      exit_code: 1,
      stdout_tail:
        'Failed to authenticate: OAuth session expired and could not be refreshed. Run `claude auth login` to sign in again',
    },
    'auth_failed',
    true,
  ],
  [
    'another process refreshes',
    {
      exit_code: 1,
      stdout_tail:
        'Failed to refresh OAuth token: another Claude Code process is refreshing it or exited mid-refresh. This is usually transient',
    },
    'auth_failed',
    false,
  ],
  [
    'AWS login',
    {
      exit_code: 1,
      stdout_tail: 'AWS credentials expired or invalid · refresh your AWS credentials and retry · API Error: 403 x',
    },
    'auth_failed',
    false,
  ],
  [
    'cloud class',
    {
      exit_code: 1,
      result_event: failed('API Error: Could not load AWS credentials · x.'),
      stdout_tail: synthetic('API Error: Could not load AWS credentials · x.', 'cloud_credential_error'),
    },
    'auth_failed',
    false,
  ],
  [
    'header not sendable',
    {
      exit_code: 1,
      result_event: failed('Invalid API key · Fix external API key · Header has invalid value', {
        api_error: 'invalid_credential_header',
      }),
    },
    'auth_missing',
    false,
  ],
  [
    'spend limit',
    {
      exit_code: 1,
      stdout_tail: "You've hit your org's monthly spend limit · ask your admin to raise it at claude.ai",
    },
    'billing',
    true,
  ],
  [
    'usage credits with a reset',
    { exit_code: 1, stdout_tail: "You're out of usage credits · resets Dec 3, 8pm (UTC)" },
    'billing',
    true,
  ],
  [
    'spend cap in a window event',
    {
      exit_code: 1,
      stdout_tail: `${JSON.stringify({ type: 'rate_limit_event', rate_limit_info: { status: 'rejected', rateLimitType: 'overage', resetsAt: 1_796_070_472 } })}\n${synthetic("You've hit your monthly spend limit", 'rate_limit', { ...api(429, 'rate_limit_error'), api_error: 'usage_limit_reached', request_id: 'req' })}`,
      result_event: failed("You've hit your monthly spend limit", {
        ...api(429, 'rate_limit_error'),
        api_error: 'usage_limit_reached',
      }),
    },
    'billing',
    true,
  ],
  [
    'weekly with a date',
    { exit_code: 1, stdout_tail: 'You’ve hit your weekly limit · resets Dec 3, 8pm (UTC) · progress saved' },
    'usage_limit',
    true,
  ],
  ['2.0 opus', { exit_code: 1, stdout_tail: 'Opus weekly limit reached ∙ resets Oct 6, 1pm' }, 'usage_limit', true],
  [
    '1.0 sentence',
    { exit_code: 1, stdout_tail: 'Claude usage limit reached. Your limit will reset at 9am (America/Chicago).' },
    'usage_limit',
    true,
  ],
  [
    'API spend window',
    {
      exit_code: 1,
      result_event: failed(
        'API Error: 400 You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
        api(400, 'invalid_request_error'),
      ),
    },
    'usage_limit',
    true,
  ],
  [
    'window rejected, then recovered',
    {
      exit_code: 0,
      stdout_tail: `${JSON.stringify({ type: 'rate_limit_event', rate_limit_info: { status: 'rejected', rateLimitType: 'five_hour', resetsAt: 1 } })}`,
      result_event: ok,
    },
    'success',
    false,
  ],
  [
    'server throttle in a report',
    {
      exit_code: 1,
      stdout_tail: 'API Error: Server is temporarily limiting requests (not your usage limit) · Rate limited',
    },
    'rate_limited',
    false,
  ],
  [
    'raw 429 body',
    {
      exit_code: 1,
      stdout_tail:
        'API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account\'s rate limit."}}',
    },
    'rate_limited',
    false,
  ],
  [
    'no subscription access',
    {
      exit_code: 1,
      result_event: failed(
        'Your organization has disabled API key authentication · Unset ANTHROPIC_API_KEY and run /login',
        { ...api(403, 'permission_error'), api_error: 'api_key_auth_disabled' },
      ),
    },
    'access_denied',
    true,
  ],
  [
    'account on hold',
    {
      exit_code: 1,
      stdout_tail: synthetic('Your account is on hold', 'account_on_hold', { api_error_status: 403 }),
      result_event: failed('Your account is on hold', { api_error_status: 403 }),
    },
    'access_denied',
    true,
  ],
  [
    'blocked at the edge, new sentence',
    {
      exit_code: 1,
      result_event: failed(
        "API Error: Request blocked before it reached Anthropic's API (HTTP 403) · the network this request came from isn't allowed",
        { api_error_status: 403, api_error: 'network_edge_blocked' },
      ),
    },
    'edge_blocked',
    false,
  ],
  [
    'host not in allowlist',
    {
      exit_code: 1,
      result_event: failed('Failed to authenticate. API Error: 403 Host not in allowlist', { api_error_status: 403 }),
      stdout_tail: synthetic('Failed to authenticate. API Error: 403 Host not in allowlist', 'authentication_failed', {
        api_error_status: 403,
      }),
    },
    'edge_blocked',
    false,
  ],
  [
    'a page with status 401',
    {
      exit_code: 1,
      result_event: failed('Failed to authenticate. API Error: 401 <html><title>401 Authorization Required</title>', {
        api_error_status: 401,
      }),
    },
    'edge_blocked',
    false,
  ],
  [
    '401 of an older build',
    {
      exit_code: 1,
      result_event: {
        ...failed('Failed to authenticate. API Error: 401 Invalid bearer token', { api_error_status: 401 }),
        terminal_reason: 'completed',
      },
      stdout_tail: JSON.stringify({
        type: 'assistant',
        message: {
          model: '<synthetic>',
          content: [{ type: 'text', text: 'Failed to authenticate. API Error: 401 Invalid bearer token' }],
        },
        error: 'authentication_failed',
      }),
    },
    'auth_failed',
    true,
  ],
  [
    'a bare 401 in a trimmed event',
    { exit_code: 1, result_event: failed('', { api_error_status: 401 }) },
    'auth_failed',
    null,
  ],
  [
    'key helper',
    {
      exit_code: 1,
      stdout_tail: JSON.stringify({ type: 'system', subtype: 'init', apiKeySource: 'apiKeyHelper' }),
      result_event: failed(
        'Failed to authenticate. API Error: 401 invalid x-api-key',
        api(401, 'authentication_error'),
      ),
    },
    'auth_failed',
    false,
  ],
  [
    '529',
    {
      exit_code: 1,
      result_event: failed(
        'API Error: Repeated 529 Overloaded errors. The API is at capacity',
        api(529, 'overloaded_error'),
      ),
    },
    'overloaded',
    false,
  ],
  [
    'capacity switch-off',
    {
      exit_code: 1,
      result_event: failed('Opus is experiencing high load, please use /model to switch to Sonnet'),
      stdout_tail: synthetic('Opus is experiencing high load, please use /model to switch to Sonnet', 'rate_limit'),
    },
    'overloaded',
    false,
  ],
  [
    'connection lost',
    {
      exit_code: 1,
      stdout_tail: 'API Error: Connection to the API was lost (EPIPE). This is usually temporary — try again.',
    },
    'network_failure',
    false,
  ],
  [
    'idle stream',
    {
      exit_code: 1,
      result_event: failed('API Error: stream idle: no bytes for 300 s', { api_error: 'stream_idle_timeout' }),
    },
    'network_failure',
    false,
  ],
  [
    'certificate',
    { exit_code: 1, result_event: failed('API Error: Unable to connect to API (CERT_HAS_EXPIRED)') },
    'tls_failure',
    false,
  ],
  [
    'wrong base URL',
    { exit_code: 1, result_event: failed('API Error: 405 Method Not Allowed', { api_error_status: 405 }) },
    'bad_config',
    false,
  ],
  [
    'continue with nothing',
    { exit_code: 1, stderr_tail: 'No conversation found to continue' },
    'session_not_found',
    false,
  ],
  [
    'root',
    {
      exit_code: 1,
      stderr_tail: '--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons',
    },
    'bad_config',
    false,
  ],
  [
    'root, as a result',
    {
      exit_code: 1,
      result_event: {
        type: 'result',
        subtype: 'error_during_execution',
        is_error: true,
        errors: ['x'],
        startup_failure_reason: 'bypass_root',
      },
    },
    'bad_config',
    false,
  ],
  [
    'no directory, as a result',
    {
      exit_code: 1,
      result_event: {
        type: 'result',
        subtype: 'error_during_execution',
        is_error: true,
        errors: ['x'],
        startup_failure_reason: 'cwd_unavailable',
      },
    },
    'workdir_missing',
    false,
  ],
  [
    'resume without an id',
    {
      exit_code: 1,
      stderr_tail: 'Error: --resume requires a valid session ID or session title when used with --print.',
    },
    'bad_cli_usage',
    false,
  ],
  ['node itself refused', { exit_code: 9, stderr_tail: '/usr/bin/node: bad option: --frob' }, 'bad_cli_usage', false],
  [
    'not a program, Windows errno',
    { exit_code: -4058, stderr_tail: 'Failed to spawn Claude Code process: spawn claude ENOENT' },
    'spawn_not_found',
    false,
  ],
  [
    'cmd.exe in Chinese',
    { exit_code: 1, stderr_tail: "'claude' 不是内部或外部命令，也不是可运行的程序\n或批处理文件。" },
    'spawn_not_found',
    false,
  ],
  [
    'disk is full',
    { exit_code: 1, stderr_tail: 'Error: ENOSPC: no space left on device, write' },
    'host_resource_exhausted',
    false,
  ],
  [
    'second, bogus result',
    {
      exit_code: 1,
      stdout_tail: `${JSON.stringify(ok)}\n${JSON.stringify({ type: 'result', subtype: 'error_during_execution', is_error: true, errors: ['x'] })}`,
      result_event: { type: 'result', subtype: 'error_during_execution', is_error: true, errors: ['x'] },
    },
    'success',
    false,
  ],
  ['own teardown after success', { exit_code: 143, stop_reason: 'teardown', result_event: ok }, 'success', false],
  ['deadline after success', { signal: 'SIGKILL', stop_reason: 'deadline', result_event: ok }, 'success', false],
  ['stopped for silence', { exit_code: 0, stop_reason: 'stall' }, 'stalled', false],
  [
    'stopped as it repeated 401s',
    {
      exit_code: 0,
      stop_reason: 'evidence_stop',
      stdout_tail: synthetic('Failed to authenticate. API Error: 401 Invalid bearer token', 'authentication_failed', {
        ...api(401, 'authentication_error'),
        request_id: 'r',
      }),
    },
    'auth_failed',
    true,
  ],
  [
    'interrupted by somebody else',
    {
      exit_code: 0,
      result_event: {
        type: 'result',
        subtype: 'error_during_execution',
        is_error: true,
        terminal_reason: 'aborted_tools',
        errors: [],
      },
    },
    'killed_unknown',
    false,
  ],
  [
    'self-kill',
    {
      exit_code: 143,
      stdout_tail: JSON.stringify({
        type: 'assistant',
        message: {
          id: 'm',
          model: 'x',
          content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: 'cd /x && pkill -f "vite dev"' } }],
        },
      }),
    },
    'self_killed',
    false,
  ],
  [
    'pkill that had ended',
    {
      exit_code: 143,
      stdout_tail: `${JSON.stringify({ type: 'assistant', message: { id: 'm', model: 'x', content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: 'pkill -f vite' } }] } })}\n${JSON.stringify({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 't', content: '' }] } })}`,
    },
    'killed_unknown',
    false,
  ],
  ['kernel killed its group', { exit_code: 137, oom_kill_delta: 2 }, 'oom_killed', false],
  [
    'earlyoom in the journal',
    {
      exit_code: 143,
      oom_kill_delta: 0,
      stderr_tail: 'earlyoom[412]: sending SIGTERM to process 4242 uid 1000 "claude": badness 900, VmRSS 4100 MiB',
    },
    'memory_pressure_killed',
    false,
  ],
  [
    'SDK broke on an event',
    { exit_code: 1, stderr_tail: 'claude_agent_sdk._errors.MessageParseError: Unknown message type: rate_limit_event' },
    'crashed',
    false,
  ],
];

const turnFailed = (message: string): Row => ({
  exit_code: 1,
  result_event: { type: 'turn.failed', error: { message } },
});
const codex: Line[] = [
  [
    'room',
    turnFailed("Codex ran out of room in the model's context window. Start a new conversation."),
    'context_overflow',
    false,
  ],
  [
    'older reset',
    turnFailed("You've hit your usage limit. Upgrade to Pro or try again in 3 days 4 hours."),
    'usage_limit',
    true,
  ],
  ['exit 0 all the same', { ...turnFailed("You've hit your usage limit."), exit_code: 0 }, 'usage_limit', true],
  [
    'token revoked, JSON',
    turnFailed(
      'unexpected status 401 Unauthorized: {"error":{"code":"token_invalidated","message":"Your authentication token has been invalidated."}}, url: https://chatgpt.com/x, request id: r',
    ),
    'auth_failed',
    true,
  ],
  [
    'country',
    turnFailed(
      'unexpected status 403 Forbidden: {"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported"}}, url: x',
    ),
    'edge_blocked',
    false,
  ],
  [
    'unknown model',
    turnFailed(
      'unexpected status 404 Not Found: {"error":{"code":"model_not_found","message":"The model `x` does not exist"}}, url: x',
    ),
    'model_unavailable',
    false,
  ],
  [
    'too long, JSON',
    turnFailed(
      '{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}',
    ),
    'context_overflow',
    false,
  ],
  [
    '503 page',
    turnFailed('unexpected status 503 Service Unavailable: <html>upstream</html>, url: x'),
    'api_server_error',
    false,
  ],
  [
    'stream cut by a limit',
    turnFailed(
      'stream disconnected before completion: Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM). Please try again in 11.054s',
    ),
    'rate_limited',
    false,
  ],
  [
    'reconnecting when killed',
    { signal: 'SIGKILL', stdout_tail: '{"type":"error","message":"Reconnecting... 3/5 (stream closed)"}' },
    'killed_unknown',
    false,
  ],
  [
    'text mode',
    {
      exit_code: 1,
      stderr_tail: "Reading prompt from stdin...\nERROR: You've hit your usage limit. Try again at 7:32 PM.",
    },
    'usage_limit',
    true,
  ],
  ['SIGINT of ours', { exit_code: 1, stop_reason: 'cancel' }, 'cancelled', false],
  ['no key', { exit_code: 1, stderr_tail: 'Missing environment variable: `OPENAI_API_KEY`.' }, 'auth_missing', false],
  [
    'a wrapper in Chinese',
    { exit_code: 1, stderr_tail: '刷新 Token 失败: HTTP 401, refresh_token_reused' },
    'auth_failed',
    null,
  ],
  ['nothing terminal', { exit_code: 0, stdout_tail: '{"type":"turn.started"}' }, 'no_result', false],
];

const geminiError = (message: string, exit_code: number, type = 'unknown'): Row => ({
  exit_code,
  result_event: { type: 'result', status: 'error', error: { type, message } },
});
const google = (code: number, status: string, message: string, details: unknown[] = []) =>
  `[API Error: ${JSON.stringify({ error: { code, message, status, details } })}]`;
const gemini: Line[] = [
  [
    'bad key',
    geminiError(
      google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
        { reason: 'API_KEY_INVALID' },
      ]),
      144,
    ),
    'auth_failed',
    true,
  ],
  [
    'per minute',
    geminiError(
      google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
        { violations: [{ quotaId: 'GenerateRequestsPerMinutePerProjectPerModel' }] },
        { retryDelay: '36s' },
      ]),
      173,
    ),
    'rate_limited',
    false,
  ],
  [
    'per day',
    geminiError(
      google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
        { violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }] },
      ]),
      173,
    ),
    'usage_limit',
    true,
  ],
  [
    'overloaded',
    geminiError(google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'), 247),
    'overloaded',
    false,
  ],
  [
    'server error',
    geminiError(google(500, 'INTERNAL', 'An internal error has occurred.'), 244),
    'api_server_error',
    false,
  ],
  [
    'safety, exit 0',
    {
      exit_code: 0,
      stdout_tail: '{"type":"error","severity":"error","message":"Response stopped due to safety reasons."}',
      result_event: { type: 'result', status: 'error' },
    },
    'policy_refusal',
    false,
  ],
  ['144 alone', { exit_code: 144 }, 'invalid_request', false],
  ['145 alone', { exit_code: 145 }, 'auth_failed', null],
  [
    'no auth method',
    { exit_code: 41, stderr_tail: 'Please set an Auth method in your /home/x/.gemini/settings.json' },
    'auth_missing',
    false,
  ],
  [
    '-o json on stderr',
    {
      exit_code: 53,
      stderr_tail: JSON.stringify(
        { error: { type: 'FatalTurnLimitedError', message: 'Reached max session turns', code: 53 } },
        null,
        2,
      ),
    },
    'max_turns',
    false,
  ],
  [
    'full disk',
    geminiError('Error: ENOSPC: no space left on device', 54, 'FatalToolExecutionError'),
    'host_resource_exhausted',
    false,
  ],
  ['sandbox', { exit_code: 44 }, 'bad_config', false],
  [
    'SIGTERM by somebody else, exit 0',
    { exit_code: 0, stdout_tail: '{"type":"init","model":"gemini-2.5-pro"}' },
    'no_result',
    false,
  ],
];

const any: Line[] = [
  [
    'OOMKilled of a child',
    { exit_code: 0, result_event: { type: 'container_state', OOMKilled: true, ExitCode: 0 } },
    'success',
    false,
  ],
  [
    'OOMKilled alone',
    { exit_code: 137, result_event: { type: 'container_state', OOMKilled: true, ExitCode: 137 } },
    'killed_unknown',
    false,
  ],
  ['heap of Java', { exit_code: 3, stderr_tail: 'java.lang.OutOfMemoryError: Java heap space' }, 'heap_oom', false],
  [
    'killed under a full node',
    {
      exit_code: 137,
      stderr_tail: 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi.',
    },
    'memory_pressure_killed',
    false,
  ],
  [
    'python traceback',
    {
      exit_code: 1,
      stderr_tail: 'Traceback (most recent call last):\n  File "x.py", line 401, in <module>\nValueError: bad',
    },
    'crashed',
    false,
  ],
  [
    'a missing interpreter',
    { exit_code: 127, stderr_tail: 'bash: line 1: ./x: cannot execute: required file not found' },
    'spawn_not_executable',
    false,
  ],
  [
    'docker, wrong architecture',
    { exit_code: 255, stderr_tail: 'exec /usr/bin/claude: exec format error' },
    'spawn_not_executable',
    false,
  ],
  [
    'too many arguments, shell',
    { exit_code: 126, stderr_tail: 'bash: /usr/bin/claude: Argument list too long' },
    'spawn_args_too_long',
    false,
  ],
  [
    'python could not reach the runner',
    {
      stderr_tail:
        "requests.exceptions.ConnectionError: HTTPConnectionPool(host='agent-x', port=8000): Max retries exceeded",
    },
    'agent_unreachable',
    false,
  ],
  ['a runner that says 503', { stderr_tail: 'HTTP 503: agent is starting' }, 'agent_unreachable', false],
  [
    'openai library',
    { exit_code: 1, stderr_tail: 'openai.AuthenticationError: Error code: 401 - Incorrect API key provided' },
    'auth_failed',
    null,
  ],
  [
    'anthropic library',
    { exit_code: 1, stderr_tail: 'anthropic.RateLimitError: Error code: 429' },
    'rate_limited',
    false,
  ],
  ['canceled in CI', { exit_code: 143, stderr_tail: '##[error]The operation was canceled.' }, 'cancelled', false],
  ['a word is no cause', { exit_code: 1, stderr_tail: 'killed the mood in room 137: unauthorized' }, 'unknown', false],
  ['panic in Go', { exit_code: 2, stderr_tail: 'panic: runtime error: index out of range [429]' }, 'crashed', false],
];

describe.each([
  ['claude', claude],
  ['codex', codex],
  ['gemini', gemini],
  ['any', any],
] as const)('%s', (cli, rows) => {
  it.each(rows)(verifies('R35', 'R36')('%s'), (_name, row, cause, switches = false) => {
    const got = diagnoseRow({ id: 'row', cli, ...row }, { now: casesNow });
    expect({ cause: got.cause, switches: got.switch_credential, evidence: got.evidence }).toEqual({
      cause,
      switches,
      evidence: got.evidence,
    });
  });
});
