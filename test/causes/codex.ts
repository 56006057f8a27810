/**
 * Endings of the real Codex CLI that its own tests (test/runner/codex.test.ts) and the recorded rows do not show: its arguments and
 * settings, the host under it, its command against itself, what stands in front of the model API.
 */
import { resolve } from 'node:path';
import type { LentCredential } from '../../src/contract/credential.ts';
import { fixture, noCgroup } from '../support/held.ts';
import type { Ask, Ending, Ground } from './ground.ts';

const key: LentCredential = {
  id: 'codex',
  kind: 'openai_api_key',
  env: { OPENAI_API_KEY: 'lent', CODEX_API_KEY: 'lent' },
};

const codex = (ground: Ground, message: string, agent: Ask['agent'] = {}): Ask => ({
  message,
  credential: key,
  agent: {
    adapter: 'codex',
    model: 'gpt-5.5',
    ...agent,
    env: { OPENAI_BASE_URL: `${ground.openAi.url}/v1`, ...agent.env },
  },
});
const wrapped = (ground: Ground, env: Record<string, string>, message = 'hello'): Ask =>
  codex(ground, message, {
    executable: fixture('causes-cli-with'),
    env: { REAL_CLI: resolve('node_modules/.bin/codex'), ...env },
  });

const mib = 1024 * 1024;
/** In argv of this one run alone, so that a broad kill of it hits nobody else on the machine. */
const own = `codex-self-${process.pid}`;

export const codexEndings: Ending[] = [
  {
    cause: 'bad_cli_usage',
    how: 'codex: a flag that it does not know',
    ask: (g) => wrapped(g, { EXTRA: '--no-such-flag' }),
  },
  {
    cause: 'bad_config',
    how: 'codex: a provider that nobody has set up',
    ask: (g) => wrapped(g, { EXTRA: '-c model_provider=nowhere' }),
  },
  {
    cause: 'host_resource_exhausted',
    how: 'codex: a file grew past the size limit of the host',
    ask: (g) => wrapped(g, { LIMITS: '-f 8' }),
  },
  {
    // It tells of a command after it has begun it: of one that kills at once nothing is ever told, and the killer stays unknown.
    cause: 'self_killed',
    how: 'codex: its own command kills whatever has a word in its arguments',
    ask: (g) =>
      codex(g, `[[mode:bash command="sleep 1; command pkill -KILL -f ${own}"]]`, {
        model: own,
        permission_mode: 'bypassPermissions',
      }),
    verdict: { mechanism: 'SIGKILL', retryable: false },
  },
  {
    cause: 'policy_refusal',
    how: 'codex: the prompt was flagged',
    ask: (g) =>
      codex(
        g,
        '[[mode:failed code=invalid_prompt message="Invalid prompt: your prompt was flagged as potentially violating our usage policy."]]',
      ),
  },
  {
    cause: 'oom_killed',
    // With less memory than its program has it reads itself again and again, or fits after all: not the same on every machine.
    how: 'codex: the answer does not fit into its cgroup',
    ask: (g) => codex(g, '[[mode:vast mb=256]]', { memory_bytes: 128 * mib }),
    verdict: { confidence: 'proven', retryable: false },
    missing: noCgroup,
  },
  {
    cause: 'no_result',
    how: 'codex: another program under its name',
    ask: (g) => codex(g, 'hello', { executable: '/bin/true' }),
  },
];
