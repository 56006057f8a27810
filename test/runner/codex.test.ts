/** The real Codex CLI through a whole runner, against the scripted provider: what the runner hands it, and how it ends. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LentCredential } from '../../src/contract/credential.ts';
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';
import { diagnose } from '../../src/outcome/diagnose.ts';
import { treeOf } from '../../src/runner/launchers/tree.ts';
import { type OpenAiApi, startOpenAiApi } from '../model-api/openai.ts';
import type { claimedWork } from '../support/claimed-work.ts';
import { chatGptLogin } from '../support/codex-login.ts';
import { lives } from '../support/held.ts';
import { type RunnerBench, runnerBench, until } from '../support/runner-bench.ts';
import { verifies } from '../support/verifies.ts';

let bench: RunnerBench;
let provider: OpenAiApi;
beforeAll(async () => {
  provider = await startOpenAiApi();
  bench = await runnerBench();
});
afterAll(async () => {
  await bench?.end();
  await provider?.close();
});

type Over = NonNullable<Parameters<typeof claimedWork>[0]>;
const key = (id: string): LentCredential => ({
  id,
  kind: 'openai_api_key',
  env: { OPENAI_API_KEY: `lent-key-of-${id}`, CODEX_API_KEY: `lent-key-of-${id}` },
});
const asked = (message: string, over: Over = {}): Over => ({
  message,
  credential: key('cred-1'),
  ...over,
  agent: {
    adapter: 'codex',
    model: 'gpt-5.5',
    ...over.agent,
    env: { OPENAI_BASE_URL: `${provider.url}/v1`, ...over.agent?.env },
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
      model: 'gpt-5.5',
      usage: { input_tokens: 30, cache_read_tokens: 10, output_tokens: 9 },
      context_used: 49,
      turns: 1,
    });
    expect(facts.stream.context_max).toBeGreaterThan(1000);
    expect(verdict.cause).toBe('success');
    expect(provider.requests.slice(from).map((r) => [r.bearer, r.model])).toEqual([['lent-key-of-cred-1', 'gpt-5.5']]);
    expect(bench.server.log(claim.attempt).map((e) => e.event?.type)).toContain('turn.completed');
  });

  it('writes the file it was asked for into the workspace', async () => {
    const { facts } = await run('[[mode:tool path=notes.txt content="written by the agent"]]');
    expect(facts.stream).toMatchObject({ response: 'done', tool_calls: 1, denied_tools: [] });
    expect(readFileSync(join(bench.workspace, 'notes.txt'), 'utf8')).toBe('written by the agent\n');
  });

  it(verifies('R45')('shows no lent value in transcript or facts, though the agent prints it'), async () => {
    const { claim, facts } = await run('[[mode:bash command="echo $CODEX_API_KEY"]]');
    const seen = JSON.stringify([bench.server.log(claim.attempt), facts]);
    expect(seen).not.toContain('lent-key-of-cred-1');
    expect(facts.stream.tool_calls).toBe(1);
  });

  it('takes instructions of agent and request, however long, and leaves no file of them behind', async () => {
    const from = provider.requests.length;
    const { claim } = await run('hello', {
      agent: { custom_instructions: `always-be "kind"\n\u0007\u007f${'y'.repeat(60_000)}` },
      options: { system_prompt: `and-be-brief ${'x'.repeat(99_000)}` },
    });
    expect(JSON.stringify(provider.requests.slice(from)[0]!.input)).toMatch(/always-be.*and-be-brief/s);
    const home = join(bench.home, 'runner', 'cli', 'cred-1', 'agent-1', 'codex');
    await until(() => expect(existsSync(join(home, `drover-${claim.attempt}.config.toml`))).toBe(false));
  });
});

describe('its sandbox', () => {
  it(verifies('R30')('lets acceptEdits write in the workspace only, default nowhere, bypass anywhere'), async () => {
    // Not below /tmp, where the sandbox of the CLI may always write.
    const outside = `/var/tmp/drover-codex-${process.pid}`;
    const wrote = async (permission_mode: ClaimedWork['agent']['permission_mode']) => {
      const workspace = join(bench.home, `in ${permission_mode}`);
      mkdirSync(workspace);
      const command = `echo x > ${outside}; echo y > inside.txt`;
      await run(`[[mode:bash command="${command}"]]`, { agent: { permission_mode, workspace } });
      return [join(workspace, 'inside.txt'), outside].map((path) => existsSync(path));
    };
    try {
      expect(await wrote('default')).toEqual([false, false]);
      expect(await wrote('plan')).toEqual([false, false]);
      expect(await wrote('acceptEdits')).toEqual([true, false]);
      expect(await wrote('bypassPermissions')).toEqual([true, true]);
    } finally {
      rmSync(outside, { force: true });
    }
  });

  it(verifies('R30')('that refuses a change is told as a denied tool, though the CLI says success'), async () => {
    const { facts, verdict } = await run('[[mode:tool path=denied.txt]]', { agent: { permission_mode: 'default' } });
    expect(facts.stream.denied_tools).toEqual(['file_change']);
    expect(verdict).toMatchObject({ cause: 'success', attention: ['blocked_tools'] });
    expect(existsSync(join(bench.workspace, 'denied.txt'))).toBe(false);
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
      expect(second.facts.stream.result).toMatchObject({ usage: { input_tokens: 200 } });
      expect(second.facts.stream.usage).toMatchObject({ input_tokens: 100, output_tokens: 7 });
    },
  );

  it('that is not there is said so by the CLI, and its name is never a switch', async () => {
    for (const id of ['00000000-0000-4000-8000-000000000000'])
      expect((await run('two', { cli_session_id: id })).verdict).toMatchObject({ cause: 'session_not_found' });
    const { facts } = await run('[[mode:bash command="echo x > /root/drover-escape 2>&1; id"]]', {
      cli_session_id: '--dangerously-bypass-approvals-and-sandbox',
    });
    expect(facts.stream.tool_calls).toBeLessThan(2);
    expect(existsSync('/root/drover-escape')).toBe(false);
  });
});

describe.concurrent('a failure of the provider', () => {
  const failures: [string, Record<string, unknown>][] = [
    ['401 turns=2', { cause: 'auth_failed', switch_credential: true, tier: 'structured', confidence: 'proven' }],
    ['tpm', { cause: 'rate_limited', switch_credential: false, retryable: true }],
    ['quota', { cause: 'billing', switch_credential: true }],
    ['plan', { cause: 'access_denied', switch_credential: true }],
    ['503', { cause: 'overloaded', switch_credential: false, retryable: true }],
    ['context', { cause: 'context_overflow', switch_credential: false }],
    ['model', { cause: 'model_unavailable', switch_credential: false }],
    ['page', { cause: 'edge_blocked', switch_credential: false }],
    ['cut', { cause: 'network_failure', switch_credential: false, retryable: true }],
  ];
  it.each(failures)(verifies('D19', 'R35', 'R36')('%s is told as what it is'), async (mode, expected) => {
    const { facts, verdict } = await run(`[[mode:${mode}]]`);
    expect(verdict).toMatchObject(expected);
    expect(facts.exit_code).toBe(1);
    if (mode.includes('turns')) {
      expect(facts.stream.tool_calls).toBe(2);
      // The stream tells no usage of a turn that failed; what was used is known all the same.
      expect(facts.stream.usage).toMatchObject({ output_tokens: 14 });
    }
  });

  it(verifies('D19', 'R38')('a used-up plan has its reset, to the minute or with its date'), async () => {
    for (const seconds of [3600, 400_000]) {
      const before = Date.now();
      const { verdict } = await run(`[[mode:limit in_s=${seconds}]]`);
      expect(verdict).toMatchObject({ cause: 'usage_limit', switch_credential: true, confidence: 'proven' });
      expect(Math.abs(verdict.reset_at! - before - seconds * 1000)).toBeLessThan(120_000);
    }
  });

  it('no key at all is missing, not rejected', async () => {
    const { verdict } = await run('hi', { credential: { id: 'empty', kind: 'env', env: {} } });
    expect(verdict).toMatchObject({ cause: 'auth_missing', switch_credential: false });
  });
});

describe('no network', () => {
  it(
    verifies('D22', 'R28')('is waited for without end, until the deadline: timed out, and by what it met'),
    async () => {
      const { facts, verdict } = await run('hi', {
        timeout_s: 10,
        agent: { env: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' } },
      });
      expect(facts.stop?.reason).toBe('deadline');
      expect(verdict).toMatchObject({ cause: 'timed_out', secondary: ['network_failure'], switch_credential: false });
    },
  );
});

describe('a stop', () => {
  it(verifies('R25', 'D22')('of ours is a cancel, whatever the CLI makes of it'), async () => {
    const claim = await hanging('[[mode:hang]]');
    bench.server.stop(claim.attempt, 'cancel');
    const facts = await bench.facts(claim);
    expect(diagnose(facts)).toMatchObject({ cause: 'cancelled', switch_credential: false });
  });

  const signals: [NodeJS.Signals, Record<string, unknown>][] = [
    ['SIGTERM', { cause: 'killed_unknown', mechanism: 'SIGTERM', switch_credential: false }],
    ['SIGKILL', { cause: 'killed_unknown', mechanism: 'SIGKILL', switch_credential: false }],
    // The CLI makes exit 1 of it and says nothing: what is not known is called so.
    ['SIGINT', { cause: 'unknown', mechanism: 'exit 1', switch_credential: null }],
  ];
  it.each(signals)(
    verifies('D16', 'R33')('from outside by %s is no failure of a login, and nothing is left running'),
    async (signal, expected) => {
      const claim = await hanging('[[mode:hang]]');
      process.kill(await leaderOf(claim), signal);
      const facts = await bench.facts(claim);
      expect(facts.stop).toBeNull();
      expect(diagnose(facts)).toMatchObject(expected);
    },
  );

  it(verifies('R27', 'D21')('of the leader alone leaves neither the native CLI nor its tool'), async () => {
    const claim = bench.claim(asked('[[mode:bash command="touch running; sleep 300"]]'));
    bench.server.give(claim);
    await until(() => expect(existsSync(join(bench.workspace, 'running'))).toBe(true));
    // The command may have begun before the CLI says so.
    await until(() => expect(JSON.stringify(bench.server.log(claim.attempt))).toContain('command_execution'));
    // The launcher of npm, the native CLI, its shell: those that lose their parent may also go by themselves.
    const tree = treeOf(claim.attempt, null).map((s) => s.pid);
    expect(tree.length).toBeGreaterThan(2);
    process.kill(await leaderOf(claim), 'SIGKILL');
    const facts = await bench.facts(claim);
    expect(facts.signal).toBe('SIGKILL');
    expect(tree.filter(lives)).toEqual([]);
    expect(facts.stream.open_tool).toMatchObject({ name: 'command_execution' });
  });
});

describe('a ChatGPT login', () => {
  const login = (id: string, content: string): LentCredential => ({ id, kind: 'codex_login', env: {}, login: content });
  const env = () => ({ CODEX_REFRESH_TOKEN_URL_OVERRIDE: `${provider.url}/oauth/token` });
  const files = (id: string) => join(bench.home, 'runner', 'cli', id, 'login', 'auth.json');

  it(verifies('R38', 'R29')('is handed over as a file of its own; transcript and spool never show it'), async () => {
    const made = chatGptLogin({ expiresInS: 3600 });
    const from = provider.requests.length;
    const { claim, facts, verdict } = await run('[[mode:bash command="cat $CODEX_HOME/auth.json"]]', {
      credential: login('plan-1', made.file),
      agent: { env: env() },
    });
    expect(verdict.cause).toBe('success');
    expect(provider.requests.slice(from)[0]).toMatchObject({ bearer: made.access, account: 'acct-1' });
    const seen = JSON.stringify([bench.server.log(claim.attempt), facts]);
    for (const secret of [made.access, made.refresh]) expect(seen).not.toContain(secret);
    const spooled = readFileSync(join(bench.home, 'runner', 'attempts', claim.attempt, 'claim.json'), 'utf8');
    expect(spooled).not.toContain(made.refresh);
    // Nothing was refreshed, so nothing goes back.
    expect(bench.server.logins).toEqual([]);
  });

  it(verifies('R38')('that the CLI refreshed goes back once, and the agents of this host share it'), async () => {
    const old = chatGptLogin({ expiresInS: -100, refreshedAt: '2026-01-01T00:00:00Z' });
    const fresh = chatGptLogin({ expiresInS: 7200, refresh: `rt-${'fresh'.repeat(4)}` });
    provider.refresh = { status: 200, body: fresh.answer };
    const { claim } = await run('[[mode:ok]]', { credential: login('plan-2', old.file), agent: { env: env() } });
    expect(provider.refreshes.at(-1)).toMatchObject({ refresh_token: old.refresh });
    await until(() => expect(bench.server.logins).toHaveLength(1));
    expect(bench.server.logins[0]).toMatchObject({ attempt: claim.attempt });
    expect(JSON.parse(bench.server.logins[0]!.login).tokens.refresh_token).toBe(fresh.refresh);
    // The server is late and lends the old one again, to another agent: the newer copy here is used.
    const refreshes = provider.refreshes.length;
    await run('[[mode:ok]]', { credential: login('plan-2', old.file), agent: { id: 'agent-2', env: env() } });
    expect(provider.refreshes).toHaveLength(refreshes);
    expect(JSON.parse(readFileSync(files('plan-2'), 'utf8')).tokens.refresh_token).toBe(fresh.refresh);
  });

  it('of another account, put in by a person, replaces the one here', async () => {
    const mine = chatGptLogin({ expiresInS: 3600 });
    await run('[[mode:ok]]', { credential: login('plan-3', mine.file), agent: { env: env() } });
    const theirs = chatGptLogin({ expiresInS: 3600, account: 'acct-2', refreshedAt: '2026-01-01T00:00:00Z' });
    writeFileSync(files('plan-3'), chatGptLogin({ expiresInS: 3600, refreshedAt: '2027-01-01T00:00:00Z' }).file);
    const from = provider.requests.length;
    await run('[[mode:ok]]', { credential: login('plan-3', theirs.file), agent: { env: env() } });
    expect(provider.requests.slice(from)[0]!.account).toBe('acct-2');
  });

  it(verifies('R36')('whose refresh is refused was rejected by the token endpoint, with proof'), async () => {
    const old = chatGptLogin({ expiresInS: -100, refreshedAt: '2026-01-01T00:00:00Z' });
    provider.refresh = { status: 401, body: { error: { code: 'refresh_token_expired', message: 'expired' } } };
    const { verdict } = await run('[[mode:401]]', { credential: login('plan-4', old.file), agent: { env: env() } });
    expect(verdict).toMatchObject({ cause: 'auth_failed', switch_credential: true });
  });
});
