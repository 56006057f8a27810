import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimedWork } from '../../../test/support/claimed-work.ts';
import { chatGptLogin } from '../../../test/support/codex-login.ts';
import { verifies } from '../../../test/support/verifies.ts';
import type { LentCredential } from '../../contract/credential.ts';
import { emptyStream } from '../../contract/facts.ts';
import type { AdapterHost, ProcessOrder } from './adapter.ts';
import { codexAdapter } from './codex.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'runner-codex-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const host = (over: Partial<AdapterHost> = {}): AdapterHost => ({
  home,
  env: { PATH: '/nowhere', HOME: join(home, 'someone') },
  claudeBin: '/opt/claude',
  packaged: { codex: '/pkg/codex' },
  serverUrl: null,
  isolation: 'none',
  ownedByAgent: () => {},
  ...over,
});
const key: LentCredential = { id: 'cred-1', kind: 'openai_api_key', env: { CODEX_API_KEY: 'lent-value' } };
type Over = NonNullable<Parameters<typeof claimedWork>[0]>;
const work = (over: Over = {}) => claimedWork({ credential: key, ...over, agent: { adapter: 'codex', ...over.agent } });
const order = async (claim = work(), h = host()): Promise<ProcessOrder> => {
  const made = await codexAdapter.order(claim, home, h);
  if ('prepare_error' in made) throw new Error(made.prepare_error.message);
  return made;
};
const configOf = (argv: string[]) => argv.filter((_, i) => argv[i - 1] === '-c');

describe('arguments', () => {
  it(verifies('R45')('carry neither the message nor a secret nor instructions'), async () => {
    const agent = { custom_instructions: 'be brief' };
    const made = await order(work({ message: 'the message', agent }));
    expect(made.stdin).toBe('the message');
    expect(made.argv.join(' ')).not.toMatch(/the message|lent-value|be brief/);
    expect(made.argv[0]).toBe('/pkg/codex');
  });

  it('prefer the request over the agent, and name mode, model and session', async () => {
    const { argv } = await order(
      work({ cli_session_id: 'sess-1', options: { model: 'asked' }, agent: { model: 'own', permission_mode: 'plan' } }),
    );
    expect(argv).toEqual([
      ...['/pkg/codex', 'exec', '--json', '--skip-git-repo-check'],
      ...['-c', 'approval_policy="never"', '-c', 'sandbox_mode="read-only"', '-c', 'cli_auth_credentials_store="file"'],
      ...['--model', 'asked', 'resume', '--', 'sess-1', '-'],
    ]);
  });

  it(verifies('R30')('give each permission mode its sandbox, and the open one only to bypass'), async () => {
    const sandbox = async (permission_mode: 'default' | 'plan' | 'dontAsk' | 'acceptEdits' | 'bypassPermissions') =>
      configOf((await order(work({ agent: { permission_mode } }))).argv)[1];
    expect(await sandbox('default')).toBe('sandbox_mode="read-only"');
    expect(await sandbox('plan')).toBe('sandbox_mode="read-only"');
    expect(await sandbox('dontAsk')).toBe('sandbox_mode="read-only"');
    expect(await sandbox('acceptEdits')).toBe('sandbox_mode="workspace-write"');
    expect(await sandbox('bypassPermissions')).toBe('sandbox_mode="danger-full-access"');
  });

  it('put instructions into a profile that TOML can read, and tidy takes it away', async () => {
    const claim = work({
      agent: { custom_instructions: 'a "b"\n\\ \u0007\u007f \ud800' },
      options: { system_prompt: 'c' },
    });
    const { argv, env } = await order(claim);
    const profile = join(env.CODEX_HOME!, `${argv[argv.indexOf('--profile') + 1]}.config.toml`);
    expect(readFileSync(profile, 'utf8')).toBe(
      'developer_instructions = "a \\"b\\"\\n\\\\ \\u0007\\u007f \ufffd\\n\\nc"\n',
    );
    expect(statSync(profile).mode & 0o077).toBe(0);
    await codexAdapter.tidy!(claim, host());
    expect(existsSync(profile)).toBe(false);
  });
});

describe('the address', () => {
  const agent = { env: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1?a="b"' } };
  const thread = (provider: string) => {
    const dir = join(home, 'runner', 'agents', 'agent-1', 'codex-sessions', '2026', '11', '30');
    mkdirSync(dir, { recursive: true });
    const meta = { timestamp: '2026-11-30T00:00:00Z', type: 'session_meta', payload: { model_provider: provider } };
    writeFileSync(join(dir, 'rollout-2026-11-30T00-00-00-sess-1.jsonl'), `${JSON.stringify(meta)}\n`);
  };

  it('of the agent becomes a provider that speaks HTTP and logs in as OpenAI’s', async () => {
    expect(configOf((await order(work({ agent }))).argv).slice(3)).toEqual([
      'model_provider="drover"',
      'model_providers.drover={name="OpenAI",wire_api="responses",base_url="http://127.0.0.1:1/v1?a=\\"b\\"",supports_websockets=false,requires_openai_auth=true}',
    ]);
    expect(configOf((await order()).argv)).toHaveLength(3);
  });

  it('keeps to the provider that a session began with, whatever was set since', async () => {
    const resumed = (env: Record<string, string>) => order(work({ cli_session_id: 'sess-1', agent: { env } }));
    thread('openai');
    expect(configOf((await resumed(agent.env)).argv).at(-1)).toBe('openai_base_url="http://127.0.0.1:1/v1?a=\\"b\\""');
    expect(configOf((await resumed({})).argv)).toHaveLength(3);
    thread('drover');
    expect(configOf((await resumed({})).argv).at(-1)).toBe(
      'model_providers.drover={name="OpenAI",wire_api="responses",requires_openai_auth=true}',
    );
  });
});

describe('CODEX_HOME', () => {
  it(verifies('R29')('is one per credential and agent, with sessions shared over credentials'), async () => {
    const homes = [];
    for (const id of ['cred-1', 'cred-2'])
      homes.push((await order(work({ credential: { ...key, id } }))).env.CODEX_HOME!);
    expect(homes[0]).not.toBe(homes[1]);
    const [one, two] = homes.map((dir) => realpathSync(join(dir, 'sessions')));
    expect(one).toBe(two);
    const other = await order(work({ agent: { id: '../../agent-2' } }));
    expect(readlinkSync(join(other.env.CODEX_HOME!, 'sessions'))).toBe(
      join(home, 'runner', 'agents', '______agent-2', 'codex-sessions'),
    );
  });

  it('stays the user’s own for a host login', async () => {
    for (const credential of [null, { id: 'h', kind: 'host_login', env: {} } as const]) {
      const { env, argv } = await order(work({ credential }));
      expect(env).not.toHaveProperty('CODEX_HOME');
      expect(argv.join(' ')).not.toContain('cli_auth_credentials_store');
    }
  });

  it(verifies('R29', 'D25')('lets no login of the server reach the child'), async () => {
    const stale = {
      CODEX_API_KEY: 'stale',
      OPENAI_API_KEY: 'stale',
      CODEX_ACCESS_TOKEN: 'stale',
      CODEX_HOME: '/stale',
    };
    const { env } = await order(work(), host({ env: { ...stale, PATH: '/nowhere' } }));
    expect(JSON.stringify(env)).not.toContain('stale');
    expect(env.CODEX_API_KEY).toBe('lent-value');
  });
});

describe('a ChatGPT login', () => {
  const lent = (login: string): LentCredential => ({ id: 'plan', kind: 'codex_login', env: {}, login });
  const place = async (login: string, agentId = 'agent-1') => {
    const { env, argv } = await order(work({ credential: lent(login), agent: { id: agentId } }));
    expect(JSON.stringify([env, argv])).not.toContain(JSON.parse(login).tokens.refresh_token);
    return join(env.CODEX_HOME!, 'auth.json');
  };

  it(
    verifies('R38', 'R45')('is one private file for all agents of the host, and stands in no environment'),
    async () => {
      const { file } = chatGptLogin({ expiresInS: 60 });
      const [one, two] = [await place(file), await place(file, 'agent-2')];
      expect(realpathSync(one)).toBe(realpathSync(two));
      expect(readFileSync(one, 'utf8')).toBe(file);
      expect(statSync(realpathSync(one)).mode & 0o077).toBe(0);
    },
  );

  it(verifies('R38')('that was refreshed here is not put back by a claim that was handed out before'), async () => {
    const old = chatGptLogin({ expiresInS: 60, refreshedAt: '2026-01-01T00:00:00Z' }).file;
    const auth = await place(old);
    const fresh = chatGptLogin({ expiresInS: 60, refreshedAt: '2026-02-01T00:00:00.123456789Z' }).file;
    writeFileSync(realpathSync(auth), fresh);
    await place(old, 'agent-2');
    expect(readFileSync(auth, 'utf8')).toBe(fresh);
    const newest = chatGptLogin({ expiresInS: 60, refreshedAt: '2026-03-01T00:00:00Z' }).file;
    await place(newest);
    expect(readFileSync(auth, 'utf8')).toBe(newest);
    writeFileSync(realpathSync(auth), '{"tokens":');
    await place(old);
    expect(readFileSync(auth, 'utf8')).toBe(old);
  });

  it('placed by many runs at once is whole', async () => {
    const { file } = chatGptLogin({ expiresInS: 60 });
    const placed = await Promise.all(Array.from({ length: 10 }, (_, i) => place(file, `agent-${i}`)));
    for (const auth of placed) expect(readFileSync(auth, 'utf8')).toBe(file);
  });
});

describe('what its thread tells', () => {
  const at = (second: number) => new Date(Date.UTC(2026, 10, 30, 0, 0, second)).toISOString();
  const count = (second: number, input: number, output: number, cached = 0) => ({
    timestamp: at(second),
    type: 'event_msg',
    payload: {
      type: 'token_count',
      info: {
        total_token_usage: { input_tokens: input, cached_input_tokens: cached, output_tokens: output },
        last_token_usage: { total_tokens: 77 },
        model_context_window: 1000,
      },
    },
  });
  const stream = { ...emptyStream('codex'), session_id: 'sess-1' };
  const complete = async (lines: (object | string)[], claim = work({ cli_session_id: 'sess-1' })) => {
    await order(claim);
    const dir = join(home, 'runner', 'agents', 'agent-1', 'codex-sessions', '2026', '11', '30');
    mkdirSync(dir, { recursive: true });
    const text = lines.map((l) => (typeof l === 'string' ? l : JSON.stringify(l))).join('\n');
    writeFileSync(join(dir, 'rollout-2026-11-30T00-00-00-sess-1.jsonl'), text);
    const told = {
      ...stream,
      usage: { input_tokens: 999, output_tokens: 999, cache_read_tokens: 0, cache_write_tokens: 0 },
    };
    return await codexAdapter.complete!(claim, told, Date.parse(at(30)), host());
  };

  it(verifies('R41')('is what this run used of it, also when it was killed between two counts'), async () => {
    const model = { timestamp: at(31), type: 'turn_context', payload: { model: 'gpt-5.5' } };
    const made = await complete([
      count(1, 10, 1),
      count(20, 100, 10, 40),
      model,
      count(40, 150, 15, 60),
      '{"timestamp":"20',
    ]);
    expect(made).toMatchObject({
      usage: { input_tokens: 30, cache_read_tokens: 20, output_tokens: 5 },
      model: 'gpt-5.5',
      context_used: 77,
      context_max: 1000,
    });
  });

  it(
    verifies('R7')('is unknown for a resumed thread whose file reads otherwise, and the stream’s for a new one'),
    async () => {
      expect((await complete(['{"now":"something else"}'])).usage).toBeNull();
      expect((await complete(['\0\0'], work())).usage).toMatchObject({ input_tokens: 999 });
      rmSync(join(home, 'runner', 'agents'), { recursive: true });
      expect((await codexAdapter.complete!(work({ cli_session_id: 'sess-1' }), stream, 0, host())).usage).toBeNull();
    },
  );
});
