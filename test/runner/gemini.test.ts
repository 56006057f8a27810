/** The real Gemini CLI through a whole runner, against the scripted provider: what the runner hands it, and how it ends. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LentCredential } from '../../src/contract/credential.ts';
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';
import { diagnose } from '../../src/outcome/diagnose.ts';
import { treeOf } from '../../src/runner/launchers/tree.ts';
import { type GoogleRequest, startGoogleApi } from '../model-api/google.ts';
import type { Scripted } from '../model-api/scripted.ts';
import type { claimedWork } from '../support/claimed-work.ts';
import { lives } from '../support/held.ts';
import { type RunnerBench, runnerBench, until } from '../support/runner-bench.ts';
import { verifies } from '../support/verifies.ts';

let bench: RunnerBench;
let provider: Scripted<GoogleRequest>;
beforeAll(async () => {
  provider = await startGoogleApi();
  bench = await runnerBench();
});
afterAll(async () => {
  await bench?.end();
  await provider?.close();
});

type Over = NonNullable<Parameters<typeof claimedWork>[0]>;
const key = (id: string): LentCredential => ({
  id,
  kind: 'gemini_api_key',
  env: { GEMINI_API_KEY: `lent-key-of-${id}` },
});
const asked = (message: string, over: Over = {}): Over => ({
  message,
  credential: key('cred-1'),
  ...over,
  agent: {
    adapter: 'gemini',
    model: 'gemini-2.5-pro',
    ...over.agent,
    env: { GOOGLE_GEMINI_BASE_URL: provider.url, ...over.agent?.env },
  },
});
const run = async (message: string, over: Over = {}) => {
  const { claim, facts } = await bench.run(asked(message, over));
  return { claim, facts, verdict: diagnose(facts, { now: facts.ended_at }) };
};
/** Starts it and waits until the provider has its request. */
const hanging = async (message: string, over: Over = {}): Promise<ClaimedWork> => {
  const from = provider.requests.length;
  const claim = bench.claim(asked(message, over));
  bench.server.give(claim);
  await provider.arrived(from + 1);
  return claim;
};
/** Its deadline comes when it has said that it tries again. */
const outOfTime = async (message: string, over: Over = {}) => {
  const claim = bench.claim(asked(message, over));
  bench.server.give(claim);
  const tried = (e: { text: string | null }) => e.text?.startsWith('Attempt 1 failed') === true;
  await bench.server.until(() => bench.server.log(claim.attempt).some(tried));
  bench.server.stop(claim.attempt, 'deadline');
  const facts = await bench.facts(claim);
  return { facts, verdict: diagnose(facts, { now: facts.ended_at }) };
};
const leaderOf = (claim: ClaimedWork): Promise<number> =>
  bench.server.until(
    () =>
      bench.server.renewals.flatMap((r) => r.attempts).find((a) => a.attempt === claim.attempt && a.proof)?.proof?.pid,
  );

describe('a success', () => {
  it(verifies('R33', 'R29', 'D25')('has answer, usage and model; the provider saw the lent key alone'), async () => {
    const from = provider.requests.length;
    const { claim, facts, verdict } = await run(
      'hi [[mode:ok text="the answer" input_tokens=40 cached_tokens=10 output_tokens=9]]',
    );
    expect(facts).toMatchObject({ exit_code: 0, signal: null, stop: null });
    expect(facts.stream).toMatchObject({
      response: 'the answer',
      model: 'gemini-2.5-pro',
      usage: { input_tokens: 30, cache_read_tokens: 10, output_tokens: 9 },
      turns: 1,
    });
    expect(verdict.cause).toBe('success');
    expect(provider.requests.slice(from).map((r) => r.apiKey)).toEqual(['lent-key-of-cred-1']);
    expect(bench.server.log(claim.attempt).map((e) => e.event?.type)).toContain('result');
  });

  it(
    verifies('R29', 'D25')('is not given a key, a route or a login by a .env or settings of the workspace'),
    async () => {
      const workspace = join(bench.home, 'with settings');
      mkdirSync(join(workspace, '.gemini'), { recursive: true });
      const stale =
        'GEMINI_API_KEY=stale\nGOOGLE_API_KEY=stale\nGOOGLE_GENAI_USE_VERTEXAI=true\nGOOGLE_VERTEX_BASE_URL=http://127.0.0.1:1\n';
      writeFileSync(join(workspace, '.gemini', '.env'), stale);
      const from = provider.requests.length;
      const { verdict } = await run('hello', { agent: { workspace } });
      expect(verdict.cause).toBe('success');
      expect(provider.requests.slice(from).map((r) => r.apiKey)).toEqual(['lent-key-of-cred-1']);
    },
  );

  it('writes the file it was asked for into the workspace', async () => {
    const { facts } = await run('[[mode:tool path=notes.txt content="written by the agent"]]');
    expect(facts.stream).toMatchObject({ response: 'done', tool_calls: 1, denied_tools: [] });
    expect(readFileSync(join(bench.workspace, 'notes.txt'), 'utf8')).toBe('written by the agent');
  });

  it(verifies('R45')('shows no lent value in transcript or facts, though the agent prints it'), async () => {
    const { claim, facts } = await run('[[mode:bash command="echo $GEMINI_API_KEY"]]', {
      agent: { allowed_tools: ['run_shell_command'] },
    });
    const seen = JSON.stringify([bench.server.log(claim.attempt), facts]);
    expect(seen).toContain('[hidden]');
    expect(seen).not.toContain('lent-key-of-cred-1');
    expect(facts.stream).toMatchObject({ tool_calls: 1, denied_tools: [] });
  });

  it('takes instructions of agent and request, and leaves no file of the run behind', async () => {
    const from = provider.requests.length;
    const { claim } = await run('hello', {
      agent: { custom_instructions: 'always-be-kind' },
      options: { system_prompt: `and-be-brief ${'x'.repeat(90_000)}` },
    });
    const request = provider.requests.slice(from)[0]!;
    expect(JSON.stringify([request.system, request.contents])).toMatch(/always-be-kind.*and-be-brief/s);
    const dir = join(bench.home, 'runner', 'agents', 'agent-1', `run-${claim.attempt}`);
    await until(() => expect(existsSync(dir)).toBe(false));
  });
});

describe.concurrent('its approval mode', () => {
  const write = (file: string) => `[[mode:tool path=${file}]]`;
  const shell = (file: string) => `[[mode:bash command="touch ${file}"]]`;
  const refused: [ClaimedWork['agent']['permission_mode'], (file: string) => string, string][] = [
    ['default', write, 'write_file'],
    ['acceptEdits', shell, 'run_shell_command'],
    ['plan', shell, 'run_shell_command'],
  ];
  it.each(refused)(
    verifies('R30')('%s takes away what it does not allow: a denied tool, though the CLI says success'),
    async (permission_mode, ask, tool) => {
      const file = `denied by ${permission_mode}.txt`.replaceAll(' ', '-');
      const { facts, verdict } = await run(ask(file), { agent: { permission_mode } });
      expect(verdict).toMatchObject({ cause: 'success', attention: ['blocked_tools'] });
      expect(facts.stream.denied_tools).toEqual([tool]);
      expect(existsSync(join(bench.workspace, file))).toBe(false);
    },
  );

  it(verifies('R30')('bypassPermissions allows all'), async () => {
    const { facts } = await run(shell('allowed.txt'), { agent: { permission_mode: 'bypassPermissions' } });
    expect(facts.stream.denied_tools).toEqual([]);
    expect(existsSync(join(bench.workspace, 'allowed.txt'))).toBe(true);
  });
});

describe('a session', () => {
  it(
    verifies('R29', 'R41')('is resumed with its memory by another credential elsewhere, and costs its own turn only'),
    async () => {
      const first = await run('one [[mode:memory input_tokens=100 cached_tokens=0]]');
      const elsewhere = join(bench.home, 'elsewhere');
      mkdirSync(elsewhere);
      const second = await run('two [[mode:memory input_tokens=100 cached_tokens=0]]', {
        cli_session_id: first.facts.stream.session_id,
        credential: key('cred-2'),
        agent: { workspace: elsewhere },
      });
      expect([first, second].map((r) => r.facts.stream.response)).toEqual([
        'I was shown 1 turns.',
        'I was shown 2 turns.',
      ]);
      expect(second.facts.stream.session_id).toBe(first.facts.stream.session_id);
      expect(second.facts.stream.usage).toMatchObject({ input_tokens: 100, output_tokens: 7 });
    },
  );

  it('that is not there is said so by the CLI', async () => {
    const { facts, verdict } = await run('two', { cli_session_id: '00000000-0000-4000-8000-000000000000' });
    expect(facts.exit_code).toBe(42);
    expect(verdict).toMatchObject({ cause: 'session_not_found', switch_credential: false });
  });
});

describe.concurrent('a failure of the provider', () => {
  /** mode → exit code (HTTP statuses modulo 256 are no signals) and verdict. */
  const failures: [string, number, Record<string, unknown>][] = [
    ['401', 145, { cause: 'auth_failed', switch_credential: true, tier: 'structured', confidence: 'proven' }],
    ['key', 144, { cause: 'auth_failed', switch_credential: true, tier: 'structured' }],
    ['suspended', 147, { cause: 'access_denied', switch_credential: true }],
    ['day', 173, { cause: 'usage_limit', switch_credential: true }],
    ['tpm', 173, { cause: 'rate_limited', switch_credential: false, retryable: true }],
    ['model', 1, { cause: 'model_unavailable', switch_credential: false }],
    ['page', 147, { cause: 'edge_blocked', switch_credential: false }],
    ['cut', 1, { cause: 'network_failure', switch_credential: false, retryable: true }],
    ['safety', 0, { cause: 'policy_refusal', switch_credential: false }],
    ['empty', 0, { cause: 'malformed_response', switch_credential: false }],
  ];
  it.each(failures)(
    verifies('D16', 'D19', 'R35', 'R36')('%s with exit %i is told as what it is'),
    async (mode, exit, expected) => {
      const { facts, verdict } = await run(`[[mode:${mode}]]`);
      expect(facts).toMatchObject({ exit_code: exit, signal: null });
      expect(verdict).toMatchObject(expected);
    },
  );

  it('after turns that were paid for keeps what they used', async () => {
    const { facts, verdict } = await run('[[mode:401 turns=2]]', { agent: { permission_mode: 'bypassPermissions' } });
    expect(verdict.cause).toBe('auth_failed');
    expect(facts.stream).toMatchObject({ tool_calls: 2, usage: { output_tokens: 14 } });
  });

  it(
    verifies('D19', 'R28', 'R38')('a limit for whose reset the CLI would wait all night is stopped, with its reset'),
    async () => {
      const { facts, verdict } = await run('[[mode:exhausted]]');
      expect(facts.stop).toMatchObject({ reason: 'evidence_stop' });
      expect(facts.stop!.detail).toMatch(/^the CLI waits 1\d{3} minutes for a limit$/);
      expect(verdict).toMatchObject({ cause: 'usage_limit', switch_credential: true, confidence: 'likely' });
      expect(Math.abs(verdict.reset_at! - facts.ended_at! - 71_991_000)).toBeLessThan(60_000);
    },
  );

  const retried: [string, string][] = [
    ['503', 'overloaded'],
    ['500', 'api_server_error'],
  ];
  it.each(retried)(verifies('D22')('%s is retried past any deadline, which then names it'), async (mode, met) => {
    const { verdict } = await outOfTime(`[[mode:${mode}]]`);
    expect(verdict).toMatchObject({ cause: 'timed_out', secondary: [met], switch_credential: false });
  });

  it('no key at all is missing, not rejected', async () => {
    const { facts, verdict } = await run('hi', {
      credential: { id: 'empty', kind: 'env', env: {} },
      agent: { env: { GOOGLE_GEMINI_BASE_URL: '' } },
    });
    expect(facts.exit_code).toBe(41);
    expect(verdict).toMatchObject({ cause: 'auth_missing', switch_credential: false });
  });

  it('its own limit of turns is one', async () => {
    const { facts, verdict } = await run('[[mode:tool turns=9]]', {
      agent: { permission_mode: 'bypassPermissions' },
      options: { max_turns: 1 },
    });
    expect(facts.exit_code).toBe(53);
    expect(verdict).toMatchObject({ cause: 'max_turns', switch_credential: false });
  });
});

describe('no network', () => {
  it(verifies('D22', 'R28')('is retried until the deadline: timed out, and by what it met'), async () => {
    const { verdict } = await outOfTime('hi', { agent: { env: { GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:1' } } });
    expect(verdict).toMatchObject({ cause: 'timed_out', secondary: ['network_failure'], switch_credential: false });
  });
});

describe('a stop', () => {
  it(verifies('R25', 'D22')('of ours is a cancel, though the CLI exits 0'), async () => {
    const claim = await hanging('[[mode:hang]]');
    bench.server.stop(claim.attempt, 'cancel');
    const facts = await bench.facts(claim);
    expect(facts.exit_code).toBe(0);
    expect(diagnose(facts)).toMatchObject({ cause: 'cancelled', switch_credential: false });
  });

  const signals: [NodeJS.Signals, Record<string, unknown>][] = [
    ['SIGTERM', { cause: 'no_result', mechanism: 'exit 0', switch_credential: false }],
    ['SIGINT', { cause: 'no_result', mechanism: 'exit 0', switch_credential: false }],
    ['SIGKILL', { cause: 'killed_unknown', mechanism: 'SIGKILL', switch_credential: false }],
  ];
  it.each(signals)(
    verifies('D16', 'R33')('from outside by %s is never a success and no failure of a login'),
    async (signal, expected) => {
      const claim = await hanging('[[mode:hang]]');
      process.kill(await leaderOf(claim), signal);
      const facts = await bench.facts(claim);
      expect(facts.stop).toBeNull();
      expect(diagnose(facts)).toMatchObject(expected);
    },
  );

  it(verifies('R27', 'D21')('of the leader in a tool leaves no process behind'), async () => {
    const claim = bench.claim(
      asked('[[mode:bash command="touch running; sleep 300"]]', { agent: { permission_mode: 'bypassPermissions' } }),
    );
    bench.server.give(claim);
    await until(() => expect(existsSync(join(bench.workspace, 'running'))).toBe(true));
    const tree = treeOf(claim.attempt, null).map((p) => p.pid);
    expect(tree.length).toBeGreaterThan(1);
    process.kill(await leaderOf(claim), 'SIGTERM');
    const facts = await bench.facts(claim);
    expect(diagnose(facts)).toMatchObject({ cause: 'no_result' });
    expect(facts.stream.open_tool).toMatchObject({ name: 'run_shell_command' });
    expect(tree.filter(lives)).toEqual([]);
  });
});

describe('the login of the host’s user', () => {
  it('is used as it is, with its memory and settings, and its home is left as it was', async () => {
    const users = join(bench.home, 'someone');
    mkdirSync(join(users, '.gemini'), { recursive: true });
    writeFileSync(join(users, '.gemini', '.env'), 'GEMINI_API_KEY=key-of-the-user\n');
    writeFileSync(join(users, '.gemini', 'GEMINI.md'), 'remembered-by-the-user');
    const settings = JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } });
    writeFileSync(join(users, '.gemini', 'settings.json'), settings);
    const from = provider.requests.length;
    const { verdict } = await run('hi', {
      credential: null,
      agent: { custom_instructions: 'always-be-kind', env: { HOME: users } },
    });
    expect(verdict.cause).toBe('success');
    const request = provider.requests.slice(from)[0]!;
    expect(request.apiKey).toBe('key-of-the-user');
    expect(JSON.stringify([request.system, request.contents])).toMatch(/remembered-by-the-user.*always-be-kind/s);
    expect(readFileSync(join(users, '.gemini', 'settings.json'), 'utf8')).toBe(settings);
    expect(existsSync(join(users, '.gemini', 'tmp'))).toBe(false);
  });
});
