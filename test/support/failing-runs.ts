/**
 * How the runs of the failing fleet go and end: the lines that Claude Code 2.1 and Codex write, read by the real readers, and what
 * a kernel counted. Drover finds out the causes by itself.
 */
import { emptyFacts, type Facts } from '../../src/contract/facts.ts';
import { createReader } from '../../src/evidence/create.ts';
import { event } from './fleet.ts';

interface Run {
  facts: Facts;
  log: ReturnType<typeof event>[];
}
interface Told {
  how?: 'good' | 'used up' | 'rejected';
  /** Dollars. */
  cost?: number;
  /** How full the five hours and the seven days of its plan are, 0 to 1, and when the first of them resets. */
  used?: number;
  seven?: number;
  resetsIn?: number;
  resetsAt?: number;
  /** It has not ended: its last tool runs. */
  open?: boolean;
  /** What the CLI says it logged in with: a plan, unless told otherwise. */
  key?: boolean;
}

const model = 'claude-sonnet-4-5';
const ended = (cli: 'claude' | 'codex', at: number, ms: number): Facts => ({
  ...emptyFacts(cli),
  exit_code: 0,
  spawned_at: at,
  ended_at: at + ms,
  run_ms: ms,
  waiting_ms: 0,
  timeout_s: 3600,
  pid: 4711,
  host: 'build-1',
  isolation: 'none',
});

const steps = [
  [
    'I read the code around it first.',
    'Read',
    { file_path: 'src/orders/list.ts' },
    'export const listOrders = async …',
  ],
  [
    'Now the test that should fail without the change.',
    'Edit',
    { file_path: 'src/orders/list.test.ts' },
    'The file has been updated.',
  ],
  [
    'It fails, as it should. The change itself is small.',
    'Bash',
    { command: 'npm test -- orders' },
    '1 failed, 41 passed',
  ],
  ['Again, with the change.', 'Bash', { command: 'npm test -- orders' }, '42 passed'],
] as const;

/** A run of Claude Code that began at `at` and took `ms`. */
export const claudeRun = (at: number, ms: number, told: Told): Run => {
  const reader = createReader('claude');
  const log: Run['log'] = [];
  const say = (value: Record<string, unknown>, when: number) => {
    const line = { ...value, session_id: `cli-${at}` };
    reader.line('stdout', JSON.stringify(line), when);
    log.push(event(line, when));
  };
  const usage = (n: number) => ({
    input_tokens: 900 * n,
    output_tokens: 420 * n,
    cache_read_input_tokens: 21_000 * n,
    cache_creation_input_tokens: 3_100 * n,
  });
  say(
    {
      type: 'system',
      subtype: 'init',
      model,
      permissionMode: 'acceptEdits',
      apiKeySource: told.key ? 'ANTHROPIC_API_KEY' : 'none',
      mcp_servers: [],
      tools: [],
    },
    at,
  );
  const shown = told.how === undefined || told.how === 'good' ? steps : steps.slice(0, 2);
  for (const [n, [text, name, input, result]] of shown.entries()) {
    const when = at + ((n + 1) * ms) / (shown.length + 1);
    const id = `tool-${n}`;
    say(
      {
        type: 'assistant',
        message: {
          id: `m${n}`,
          model,
          content: [
            { type: 'text', text },
            { type: 'tool_use', id, name, input },
          ],
          usage: usage(n + 1),
        },
      },
      when,
    );
    if (told.open && n === shown.length - 1) break;
    say(
      { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: id, content: result }] } },
      when + 900,
    );
  }
  const end = at + ms;
  const cost = told.cost ?? 0;
  const result = (fields: Record<string, unknown>) =>
    say(
      { type: 'result', subtype: 'success', num_turns: shown.length, total_cost_usd: cost, usage: usage(6), ...fields },
      end,
    );
  const refused = (text: string, error: string, fields: Record<string, unknown>) => {
    const message = { model: '<synthetic>', role: 'assistant', content: [{ type: 'text', text }] };
    say({ type: 'assistant', error, is_api_error_message: true, message, ...fields }, end);
    result({ is_error: true, terminal_reason: 'api_error', result: text, ...fields });
  };
  const seconds = (time: number) => Math.ceil(time / 1000);
  switch (told.open ? 'open' : (told.how ?? 'good')) {
    case 'open':
      break;
    case 'good': {
      const { used = 0.2, seven = 0.2, resetsIn = 3_600_000 } = told;
      const fiveHour = { status: 'allowed', utilization: used, resetsAt: seconds(end + resetsIn) };
      const sevenDay = { status: 'allowed', utilization: seven, resetsAt: seconds(end + 3 * 86_400_000) };
      say(
        {
          type: 'rate_limit_event',
          rate_limit_info: {
            ...fiveHour,
            rateLimitType: 'five_hour',
            unifiedWindows: { five_hour: fiveHour, seven_day: sevenDay },
          },
        },
        end,
      );
      result({ is_error: false, result: 'Done: three files changed, and the test is green 200 times in a row.' });
      break;
    }
    case 'used up': {
      const info = {
        status: 'rejected',
        resetsAt: seconds(told.resetsAt!),
        rateLimitType: 'five_hour',
        isUsingOverage: false,
      };
      say({ type: 'rate_limit_event', rate_limit_info: info }, end);
      refused("You've hit your 5-hour limit", 'rate_limit', {
        api_error_status: 429,
        api_error: 'usage_limit_reached',
        api_error_type: 'rate_limit_error',
        api_error_params: { rate_limit_info: info },
      });
      break;
    }
    case 'rejected':
      refused('Failed to authenticate. API Error: 401 OAuth access token has been revoked.', 'authentication_failed', {
        api_error_status: 401,
        api_error_type: 'authentication_error',
      });
  }
  const good = told.how === undefined || told.how === 'good';
  return {
    log,
    facts: {
      ...ended('claude', at, ms),
      exit_code: good ? 0 : 1,
      stream: { ...reader.facts(), context_used: 61_000, context_max: 200_000 },
      workspace: {
        mode: 'worktree',
        path: '/srv/work/shop',
        ref: null,
        commit: null,
        files_changed: good ? 3 : 0,
        insertions: good ? 48 : 0,
        deletions: good ? 12 : 0,
        keep_error: null,
      },
    },
  };
};

/** Killed by the kernel at its limit, in the middle of a tool. */
export const killedForMemory = (at: number, ms: number, limit: number): Run => {
  const { facts, log } = claudeRun(at, ms, { open: true, key: true });
  return {
    log,
    facts: {
      ...facts,
      exit_code: null,
      signal: 'SIGKILL',
      memory: {
        held_by: 'cgroup_v2',
        limit_bytes: limit,
        peak_bytes: limit,
        oom_kills_before: 0,
        oom_kills_after: 1,
        oom_group_kills: 0,
        host_oom_kills_before: null,
        host_oom_kills_after: null,
      },
    },
  };
};

/** Codex while its provider answers 503. */
export const codexDown = (at: number, ms: number): Run => {
  const reader = createReader('codex');
  const log: Run['log'] = [];
  const message = 'We’re currently experiencing high demand, which may cause temporary errors.';
  for (const line of [
    { type: 'thread.started', thread_id: `codex-${at}` },
    { type: 'turn.started' },
    { type: 'error', message },
    { type: 'turn.failed', error: { message } },
  ]) {
    reader.line('stdout', JSON.stringify(line), at + ms);
    log.push(event(line, at + ms));
  }
  return { log, facts: { ...ended('codex', at, ms), exit_code: 1, stream: reader.facts() } };
};
