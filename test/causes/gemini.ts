/**
 * Endings of the real Gemini CLI that its own tests (test/runner/gemini.test.ts) and the recorded rows do not show: its arguments and
 * settings, the heap and the host under it, its command against itself, what stands in front of the model API.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { LentCredential } from '../../src/contract/credential.ts';
import { fixture, noCgroup } from '../support/held.ts';
import type { Ask, Ending, Ground } from './ground.ts';

const key: LentCredential = { id: 'gemini', kind: 'gemini_api_key', env: { GEMINI_API_KEY: 'lent' } };

const gemini = (ground: Ground, message: string, agent: Ask['agent'] = {}): Ask => ({
  message,
  credential: key,
  agent: {
    adapter: 'gemini',
    model: 'gemini-2.5-pro',
    ...agent,
    env: { GOOGLE_GEMINI_BASE_URL: ground.google.url, ...agent.env },
  },
});
const wrapped = (ground: Ground, env: Record<string, string>): Ask =>
  gemini(ground, 'hello', {
    executable: fixture('causes-cli-with'),
    env: { REAL_CLI: resolve('node_modules/.bin/gemini'), ...env },
  });
const mib = 1024 * 1024;
const own = `gemini-self-${process.pid}`;

export const geminiEndings: Ending[] = [
  {
    cause: 'bad_cli_usage',
    how: 'gemini: a flag that it does not know',
    ask: (g) => wrapped(g, { EXTRA: '--no-such-flag' }),
  },
  {
    cause: 'bad_config',
    how: 'gemini: settings of the workspace that are no JSON',
    ask: (g) => {
      const workspace = join(g.bench.home, 'gemini with broken settings');
      mkdirSync(join(workspace, '.gemini'), { recursive: true });
      writeFileSync(join(workspace, '.gemini', 'settings.json'), '{ "ui": ');
      return gemini(g, 'hello', { workspace });
    },
  },
  {
    cause: 'heap_oom',
    how: 'gemini: its heap is full',
    ask: (g) => gemini(g, 'hello', { env: { NODE_OPTIONS: '--max-old-space-size=24' } }),
  },
  {
    cause: 'self_killed',
    how: 'gemini: its own command kills whatever has a word in its arguments',
    ask: (g) =>
      gemini(g, `[[mode:bash command="command pkill -KILL -f ${own}"]]`, {
        model: own,
        permission_mode: 'bypassPermissions',
      }),
    verdict: { mechanism: 'SIGKILL', retryable: false },
  },
  { cause: 'context_overflow', how: 'gemini: the prompt is too long', ask: (g) => gemini(g, '[[mode:long]]') },
  {
    cause: 'invalid_request',
    how: 'gemini: the API does not take the request',
    ask: (g) => gemini(g, '[[mode:request]]'),
  },
  {
    cause: 'oom_killed',
    how: 'gemini: it does not fit into its cgroup',
    ask: (g) => gemini(g, 'hello', { memory_bytes: 64 * mib }),
    verdict: { confidence: 'proven', retryable: false },
    missing: noCgroup,
  },
];
