/** The real Claude Code CLI through a whole runner, against the scripted provider: what the runner hands it, and what comes back. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LentCredential } from '../../src/contract/credential.ts';
import { type ModelApi, startModelApi } from '../model-api/server.ts';
import type { claimedWork } from '../support/claimed-work.ts';
import { fixture } from '../support/held.ts';
import { type RunnerBench, runnerBench } from '../support/runner-bench.ts';
import { verifies } from '../support/verifies.ts';

let bench: RunnerBench;
let provider: ModelApi;
beforeAll(async () => {
  provider = await startModelApi();
  bench = await runnerBench();
});
afterAll(async () => {
  await bench?.end();
  await provider?.close();
});

const key = (id: string): LentCredential => ({
  id,
  kind: 'anthropic_api_key',
  env: { ANTHROPIC_API_KEY: `lent-key-of-${id}` },
});
const run = (message: string, over: Parameters<typeof claimedWork>[0] = {}) =>
  bench.run({
    message,
    credential: key('cred-1'),
    ...over,
    agent: {
      adapter: 'claude',
      model: 'claude-sonnet-4-5',
      ...over.agent,
      env: { ANTHROPIC_BASE_URL: provider.url, ...over.agent?.env },
    },
  });

describe('a success', () => {
  it(verifies('R33', 'R29', 'D25')('has answer, usage and cost; the provider saw the lent key alone'), async () => {
    const from = provider.requests.length;
    const { claim, facts } = await run('hello [[mode:ok text="the answer" input_tokens=40 output_tokens=9]]');
    expect(facts).toMatchObject({ exit_code: 0, signal: null, stop: null });
    expect(facts.stream).toMatchObject({
      response: 'the answer',
      api_key_source: 'ANTHROPIC_API_KEY',
      permission_mode: 'acceptEdits',
      usage: { input_tokens: 40, output_tokens: 9 },
      model_spoke: true,
    });
    expect(facts.stream.cost_usd).toBeGreaterThan(0);
    expect(provider.requests.slice(from).map((r) => r.apiKey)).toEqual(['lent-key-of-cred-1']);
    expect(bench.server.log(claim.attempt).map((e) => e.event?.type)).toContain('result');
  });

  it(verifies('R29', 'D25')('is not given a stale key by settings of the workspace'), async () => {
    const workspace = join(bench.home, 'with settings');
    mkdirSync(join(workspace, '.claude'), { recursive: true });
    const settings = { env: { ANTHROPIC_API_KEY: 'stale-key-of-the-workspace' }, apiKeyHelper: 'echo stale-helper' };
    writeFileSync(join(workspace, '.claude', 'settings.json'), JSON.stringify(settings));
    const from = provider.requests.length;
    await run('hello', { agent: { workspace } });
    expect(provider.requests.slice(from).map((r) => r.apiKey)).toEqual(['lent-key-of-cred-1']);
  });

  it('writes the file it was asked for into the workspace', async () => {
    const { facts } = await run('[[mode:tool path=notes.txt content="written by the agent"]]');
    expect(facts.stream).toMatchObject({ response: 'done', tool_calls: 1, denied_tools: [] });
    expect(readFileSync(join(bench.workspace, 'notes.txt'), 'utf8')).toBe('written by the agent');
  });

  it(verifies('R30')('is told with the tool that was denied'), async () => {
    const { facts } = await run('[[mode:bash command="dd if=/dev/null of=forbidden.txt"]]');
    expect(facts.exit_code).toBe(0);
    expect(facts.stream.denied_tools).toEqual(['Bash']);
    expect(existsSync(join(bench.workspace, 'forbidden.txt'))).toBe(false);
    const allowed = await run('[[mode:bash command="dd if=/dev/null of=allowed.txt"]]', {
      agent: { allowed_tools: ['Bash'] },
    });
    expect(allowed.facts.stream.denied_tools).toEqual([]);
    expect(existsSync(join(bench.workspace, 'allowed.txt'))).toBe(true);
  });

  it('takes instructions of agent and request into its system prompt', async () => {
    const from = provider.requests.length;
    await run('hello', {
      agent: { custom_instructions: 'always-be-kind' },
      options: { system_prompt: 'and-be-brief' },
    });
    expect(JSON.stringify(provider.requests.slice(from)[0]!.system)).toMatch(/always-be-kind.*and-be-brief/s);
  });

  it(verifies('R45')('shows no lent value in transcript or facts, though the agent prints it'), async () => {
    const { claim, facts } = await run('[[mode:bash command="echo $ANTHROPIC_API_KEY"]]', {
      agent: { allowed_tools: ['Bash'] },
    });
    const seen = JSON.stringify([bench.server.log(claim.attempt), facts]);
    expect(seen).not.toContain('lent-key-of-cred-1');
    expect(facts.stream.tool_calls).toBe(1);
  });
});

describe('a session', () => {
  it(verifies('R29')('is resumed with its memory, with another credential and in another directory'), async () => {
    const first = await run('one [[mode:memory]]');
    const session = first.facts.stream.session_id!;
    const elsewhere = join(bench.home, 'elsewhere');
    mkdirSync(elsewhere);
    const second = await run('two [[mode:memory]]', {
      cli_session_id: session,
      credential: key('cred-2'),
      agent: { workspace: elsewhere },
    });
    expect([first, second].map((r) => r.facts.stream.response)).toEqual([
      'I was shown 1 turns.',
      'I was shown 2 turns.',
    ]);
    expect(second.facts.stream.session_id).toBe(session);
  });

  it('that is not there is said so by the CLI', async () => {
    const { facts } = await run('two', { cli_session_id: '00000000-0000-4000-8000-000000000000' });
    expect(facts.exit_code).toBe(1);
    expect(facts.stream.result ?? facts.stream.lines).toBeTruthy();
    expect(JSON.stringify(facts.stream)).toContain('No conversation found');
  });
});

describe('a failure of the provider', () => {
  it(verifies('D19')('401 after turns leaves its structured evidence and the tokens'), async () => {
    const { facts } = await run('[[mode:401 turns=2]]', { agent: { allowed_tools: ['Bash'] } });
    expect(facts.stream.tool_calls).toBe(2);
    expect(facts.stream.result).toMatchObject({ is_error: true, api_error_status: 401 });
    expect(facts.stream.usage!.output_tokens).toBeGreaterThan(0);
  });

  it(verifies('D19')('429 of a plan window leaves its reset'), async () => {
    const { facts } = await run('[[mode:429]]', {
      credential: { id: 'plan', kind: 'claude_oauth', env: { CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-lent' } },
    });
    expect(facts.stream.result).toMatchObject({ is_error: true, api_error_status: 429 });
    const rejected = facts.stream.signals.find((s) => s.kind === 'rate_limit_rejected');
    const info = rejected?.data.rate_limit_info as { resetsAt: number; rateLimitType: string };
    expect(info.rateLimitType).toBe('five_hour');
    expect(info.resetsAt * 1000).toBeGreaterThan(Date.now());
  });

  it('a page of a proxy leaves no request id to blame a login with', async () => {
    const { facts } = await run('[[mode:403page]]');
    expect(facts.stream.result).toMatchObject({ is_error: true, api_error_status: 403 });
    const errors = facts.stream.signals.filter((s) => s.kind === 'assistant_error');
    expect(errors.some((s) => s.data.request_id || s.data.api_error_type)).toBe(false);
  });
});

describe('a stop', () => {
  it(verifies('R25', 'D22')('of a run that hangs in the provider is a cancel, though the CLI exits 0'), async () => {
    const from = provider.requests.length;
    const claim = bench.claim({
      message: '[[mode:hang]]',
      credential: key('cred-1'),
      agent: { adapter: 'claude', model: 'claude-sonnet-4-5', env: { ANTHROPIC_BASE_URL: provider.url } },
    });
    bench.server.give(claim);
    await provider.arrived(from + 1);
    bench.server.stop(claim.attempt, 'cancel');
    const facts = await bench.facts(claim);
    expect(facts.stop?.reason).toBe('cancel');
    expect(facts.stream.result?.is_error ?? true).toBe(true);
  });
});

describe('a CLI that does not leave', () => {
  let impatient: RunnerBench;
  beforeAll(async () => {
    impatient = await runnerBench({ afterResultMs: 1_000 });
  });
  afterAll(() => impatient?.end());
  const agent = (name: string) => ({ adapter: 'claude' as const, executable: fixture(name) });

  it(verifies('R28', 'D20')('after its result is ended as teardown, and the result stands'), async () => {
    const { facts } = await impatient.run({ agent: agent('runner-hangs-after-result.sh') });
    expect(facts.stop).toMatchObject({ reason: 'teardown' });
    expect(facts.stream).toMatchObject({ response: 'all said', results_seen: 1 });
  });

  it(verifies('D21')('but has work in the background is waited for'), async () => {
    const { facts } = await impatient.run({
      message: '[[mode:bash command="sleep 2; echo late > late.txt" background=1]]',
      credential: key('cred-1'),
      agent: {
        adapter: 'claude',
        model: 'claude-sonnet-4-5',
        allowed_tools: ['Bash'],
        env: { ANTHROPIC_BASE_URL: provider.url },
      },
    });
    expect(facts).toMatchObject({ exit_code: 0, stop: null });
    expect(facts.stream.results_seen).toBe(2);
    expect(readFileSync(join(impatient.workspace, 'late.txt'), 'utf8')).toBe('late\n');
  });

  it(verifies('R28')('and only repeats 401s is stopped on that evidence'), async () => {
    const { facts } = await bench.run({ agent: agent('runner-repeats-401.sh') });
    expect(facts.stop).toMatchObject({ reason: 'evidence_stop' });
    expect(facts.stream.signals.map((s) => s.kind)).toContain('api_retry');
  });
});

const otherUser =
  process.getuid?.() === 0 && readFileSync('/etc/passwd', 'utf8').includes('\nnobody:') ? 'nobody' : null;

describe.skipIf(otherUser === null)('as another user (needs root and a user nobody)', () => {
  it(
    verifies('R32', 'R29')('reaches its configuration, its instructions and its workspace, and is called isolated'),
    async () => {
      const isolated = await runnerBench({ agentUser: otherUser });
      try {
        const { facts } = await isolated.run({
          message: '[[mode:tool path=by-nobody.txt]]',
          credential: key('cred-1'),
          agent: {
            adapter: 'claude',
            model: 'claude-sonnet-4-5',
            custom_instructions: 'be kind',
            env: { ANTHROPIC_BASE_URL: provider.url },
          },
        });
        expect(facts).toMatchObject({
          exit_code: 0,
          isolation: 'user',
          stream: { response: 'done', denied_tools: [] },
        });
        expect(statSync(join(isolated.workspace, 'by-nobody.txt')).uid).not.toBe(0);
      } finally {
        await isolated.end();
      }
    },
  );
});
