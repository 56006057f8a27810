/** A CLI that dies by a signal while one of its own commands runs: which commands choose by name, and which do not. */
import { expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { emptyFacts } from '../contract/facts.ts';
import { diagnose } from './diagnose.ts';

const diedDuring = (input: string, signal = 'SIGKILL') => {
  const facts = { ...emptyFacts('claude'), signal, spawned_at: 1 };
  facts.stream.open_tool = { name: 'Bash', input, since: null };
  return diagnose(facts);
};

it.each([
  'pkill -f node',
  'sudo pkill node',
  'command pkill -KILL -f server',
  '/usr/bin/pkill -9 -f vite',
  'killall node',
  'taskkill.exe /F /IM node.exe',
  'kill -9 -1',
  'kill $PPID',
  'kill -9 "$PPID"',
  "sh -c 'pkill -f dev'",
  'bash -lc "killall node"',
  'echo $(pkill node)',
  'kill $(pgrep -f server)',
  'kill -9 `pidof node`',
  'pgrep -f "vite|next" | xargs kill -9',
  'kill -9 $(lsof -t -i:3000)',
  'lsof -t -i:3000 | xargs -r kill',
  'fuser -k 3000/tcp',
])(verifies('R35')('%s is its own command'), (command) => {
  expect(diedDuring(command)).toMatchObject({ cause: 'self_killed', confidence: 'likely', retryable: false });
  expect(diedDuring(command, 'SIGTERM').cause).toBe('self_killed');
  expect(diedDuring(command, 'SIGSEGV').cause).toBe('crashed');
});

it.each([
  'kill 4242',
  'kill %1',
  'npm run skills',
  'cat overkill.txt',
  'grep -r pkillers .',
  'ls /srv/killall.d/',
  'pgrep node',
  'npm test',
])(verifies('R35')('%s is not'), (command) => {
  expect(diedDuring(command).cause).toBe('killed_unknown');
});
