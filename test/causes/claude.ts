/** Endings of the real Claude Code CLI: its login, its arguments, the model API and what stands in front of it. */
import { resolve } from 'node:path';
import type { LentCredential } from '../../src/contract/credential.ts';
import { fixture } from '../support/held.ts';
import type { Ask, Ending, Ground } from './ground.ts';

const key: LentCredential = { id: 'key', kind: 'anthropic_api_key', env: { ANTHROPIC_API_KEY: 'lent-key' } };
const plan: LentCredential = {
  id: 'plan',
  kind: 'claude_oauth',
  env: { CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-lent' },
};

/** Without retries of its own: they would take minutes and end the same. */
const claude = (ground: Ground, message: string, agent: Ask['agent'] = {}): Ask => ({
  message,
  credential: key,
  agent: {
    adapter: 'claude',
    model: 'claude-sonnet-4-5',
    allowed_tools: ['Bash'],
    ...agent,
    env: { ANTHROPIC_BASE_URL: ground.provider.url, CLAUDE_CODE_MAX_RETRIES: '0', ...agent.env },
  },
});
const withFlags = (ground: Ground, extra: string, message = 'hello'): Ask =>
  claude(ground, message, {
    executable: fixture('causes-cli-with'),
    env: { REAL_CLI: resolve('node_modules/.bin/claude'), EXTRA: extra },
  });
/** One mode of the scripted provider. */
const answers = (cause: Ending['cause'], mode: string, how: string, more: Partial<Ending> = {}): Ending => ({
  cause,
  how,
  ask: (ground) => claude(ground, `[[mode:${mode}]]`),
  ...more,
});
const reaches = (
  cause: Ending['cause'],
  how: string,
  url: (g: Ground) => string,
  more: Partial<Ending> = {},
): Ending => ({
  cause,
  how,
  ask: (ground) => claude(ground, 'hello', { env: { ANTHROPIC_BASE_URL: url(ground) } }),
  ...more,
});

const switches = { verdict: { switch_credential: true, tier: 'structured' as const } };

/** In argv of this one run alone, so that a broad kill of it hits nobody else on the machine. */
const own = `claude-self-${process.pid}`;

export const claudeEndings: Ending[] = [
  { cause: 'success', how: 'claude: a result that is no error', ask: (g) => claude(g, 'hello') },
  {
    cause: 'self_killed',
    how: 'its own command kills whatever has a word in its arguments',
    ask: (g) => claude(g, `[[mode:bash command="command pkill -KILL -f ${own}"]]`, { model: own }),
    verdict: { mechanism: 'SIGKILL', retryable: false },
  },
  { cause: 'bad_cli_usage', how: 'a flag that it does not know', ask: (g) => withFlags(g, '--no-such-flag') },
  {
    cause: 'bad_config',
    how: 'a settings file that is not there',
    ask: (g) => withFlags(g, '--settings /no/such.json'),
  },
  {
    cause: 'budget_exceeded',
    how: 'its budget flag',
    ask: (g) => withFlags(g, '--max-budget-usd 0.000001', '[[mode:bash command="true"]]'),
  },
  {
    cause: 'session_not_found',
    how: '--resume of a session that nobody had',
    ask: (g) => ({ ...claude(g, 'go on'), cli_session_id: '00000000-0000-4000-8000-000000000000' }),
  },
  {
    cause: 'max_turns',
    how: '--max-turns',
    ask: (g) => ({ ...claude(g, '[[mode:bash command="true" turns=3]]'), options: { max_turns: 1 } }),
  },
  {
    cause: 'auth_missing',
    how: 'no login at all',
    ask: (g) => ({ ...claude(g, 'hello'), credential: null }),
    verdict: { switch_credential: false },
  },
  answers('auth_failed', '401', 'the API rejects its key', switches),
  answers('auth_failed', '401 turns=2', 'the API rejects its key after two turns', switches),
  {
    cause: 'access_denied',
    how: 'the organization does not allow its login',
    ask: (g) => ({ ...claude(g, '[[mode:403-org]]'), credential: plan }),
    ...switches,
  },
  answers('access_denied', '400-disabled', 'its organization is disabled', switches),
  {
    cause: 'usage_limit',
    how: 'the window of its plan is used up',
    ask: (g) => ({ ...claude(g, '[[mode:429]]'), credential: plan }),
    ...switches,
  },
  answers('usage_limit', '400-spend', 'the spend window of its API key is used up', switches),
  answers('billing', '400-credit', 'no credit is left', switches),
  answers('rate_limited', '429-short', 'too many tokens a minute', {
    verdict: { switch_credential: false, retryable: true },
  }),
  answers('overloaded', '529', 'the API is overloaded'),
  answers('api_server_error', '500', 'the API fails'),
  answers('network_failure', 'cut', 'the stream is cut off'),
  reaches('network_failure', 'nobody listens', (g) => g.deadUrl),
  reaches('network_failure', 'a name without an address', () => 'http://no-such-host.invalid'),
  reaches('tls_failure', 'a certificate of its own making', (g) => g.selfSignedUrl ?? '', {
    missing: (g) => (g.selfSignedUrl === null ? 'openssl is not installed' : null),
  }),
  reaches('tls_failure', 'plain HTTP where TLS is expected', (g) => g.provider.url.replace('http:', 'https:')),
  answers('edge_blocked', '403page', 'a page of somebody in front of the API', {
    verdict: { switch_credential: false },
  }),
  answers('malformed_response', '200page', 'a captive portal answers with a page and 200'),
  answers('context_overflow', '400-long', 'the prompt is too long'),
  answers('context_overflow', '413', 'the request is too large'),
  answers('output_limit', 'max-tokens', 'the answer is longer than allowed, again and again'),
  answers('policy_refusal', '400-policy', 'the content filter', {
    verdict: { switch_credential: false, retryable: false },
  }),
  answers('invalid_request', '400-request', 'the API does not take the request'),
  answers('model_unavailable', '404-model', 'there is no such model'),
  {
    cause: 'no_result',
    how: 'another program under the name of the CLI, which says nothing and exits 0',
    ask: () => ({ agent: { adapter: 'claude', executable: '/bin/true' } }),
  },
];
