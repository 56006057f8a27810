import { mkdtempSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimedWork } from '../../../test/support/claimed-work.ts';
import { verifies } from '../../../test/support/verifies.ts';
import type { LentCredential } from '../../contract/credential.ts';
import type { AdapterHost, ProcessOrder } from './adapter.ts';
import { claudeAdapter } from './claude.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'runner-claude-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const host = (over: Partial<AdapterHost> = {}): AdapterHost => ({
  home,
  env: { PATH: '/usr/bin:/bin', HOME: '/home/someone' },
  claudeBin: '/opt/claude',
  packaged: {},
  isolation: 'none',
  serverUrl: null,
  ownedByAgent: () => {},
  ...over,
});
const key: LentCredential = { id: 'cred-1', kind: 'anthropic_api_key', env: { ANTHROPIC_API_KEY: 'lent-value' } };
const order = async (claim = claimedWork(), h = host()): Promise<ProcessOrder> => {
  const made = await claudeAdapter.order(claim, home, h);
  if ('prepare_error' in made) throw new Error(made.prepare_error.message);
  return made;
};

describe('environment', () => {
  it(verifies('R29', 'D25')('lets no login of the server reach the child, whatever its name'), async () => {
    const stale = {
      ANTHROPIC_API_KEY: 'stale',
      ANTHROPIC_AUTH_TOKEN: 'stale',
      CLAUDE_CODE_OAUTH_TOKEN: 'stale',
      AWS_SECRET_ACCESS_KEY: 'stale',
      DROVER_SECRET_KEY: 'stale',
      ANTHROPIC_BASE_URL: 'http://stale',
      NODE_OPTIONS: '--stale',
    };
    const { env } = await order(claimedWork(), host({ env: { ...stale, PATH: '/bin', LC_ALL: 'C.UTF-8' } }));
    expect(JSON.stringify(env)).not.toContain('stale');
    expect(env).toMatchObject({ PATH: '/bin', LC_ALL: 'C.UTF-8' });
  });

  it(verifies('R29')('gives the lent credential last, over what the agent may have set'), async () => {
    const agent = {
      env: { ANTHROPIC_API_KEY: 'of-an-old-row', ANTHROPIC_BASE_URL: 'http://127.0.0.1:1', TZ: 'Asia/Seoul' },
    };
    const { env } = await order(claimedWork({ credential: key, agent }));
    expect(env).toMatchObject({
      ANTHROPIC_API_KEY: 'lent-value',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
      TZ: 'Asia/Seoul',
    });
    expect((await order(claimedWork({ agent }))).env).not.toHaveProperty('ANTHROPIC_API_KEY');
  });

  it('switches off the idle limit of MCP tools and asks for structured startup failures', async () => {
    expect((await order()).env).toMatchObject({
      CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT: '0',
      CLAUDE_CODE_STARTUP_FAILURE_RESULTS: '1',
      DISABLE_AUTOUPDATER: '1',
    });
  });

  it(verifies('R30')('tells the CLI it is sandboxed only for bypass as root'), async () => {
    const bypass = { agent: { permission_mode: 'bypassPermissions' as const } };
    const asRoot = process.getuid?.() === 0;
    expect('IS_SANDBOX' in (await order(claimedWork(bypass))).env).toBe(asRoot);
    expect((await order(claimedWork(bypass), host({ isolation: 'user' }))).env).not.toHaveProperty('IS_SANDBOX');
    expect((await order()).env).not.toHaveProperty('IS_SANDBOX');
  });
});

describe('configuration directory', () => {
  it(verifies('R29')('is one per credential and agent, with transcripts shared over credentials'), async () => {
    const dirs = [];
    for (const id of ['cred-1', 'cred-2']) {
      const { env } = await order(claimedWork({ credential: { ...key, id } }));
      dirs.push(env.CLAUDE_CONFIG_DIR!);
      writeFileSync(join(env.CLAUDE_CONFIG_DIR!, 'projects', `by-${id}.jsonl`), '');
    }
    expect(dirs[0]).not.toBe(dirs[1]);
    expect(realpathSync(join(dirs[0]!, 'projects'))).toBe(realpathSync(join(dirs[1]!, 'projects')));
    const other = await order(claimedWork({ credential: key, agent: { id: 'agent-2' } }));
    expect(readlinkSync(join(other.env.CLAUDE_CONFIG_DIR!, 'projects'))).toBe(
      join(home, 'runner', 'agents', 'agent-2', 'projects'),
    );
  });

  it('stays the user’s own for a host login', async () => {
    const login: LentCredential = { id: 'h', kind: 'host_login', env: {} };
    for (const credential of [null, login]) {
      const { env } = await order(claimedWork({ credential }));
      expect(env).not.toHaveProperty('CLAUDE_CONFIG_DIR');
      expect(env.HOME).toBe('/home/someone');
    }
  });

  it('never follows an id out of its directory', async () => {
    const { env } = await order(claimedWork({ credential: { ...key, id: '../../x' }, agent: { id: '../y' } }));
    expect(env.CLAUDE_CONFIG_DIR!.startsWith(join(home, 'runner', 'cli'))).toBe(true);
    expect(env.CLAUDE_CONFIG_DIR).not.toContain('..');
  });
});

describe('arguments', () => {
  it(verifies('R45')('carry neither the message nor a secret; the message comes on stdin'), async () => {
    const made = await order(claimedWork({ message: 'the message', credential: key }));
    expect(made.stdin).toBe('the message');
    expect(made.argv.join(' ')).not.toMatch(/the message|lent-value/);
  });

  it('prefer the request over the agent, and name mode, model, session and turns', async () => {
    const { argv } = await order(
      claimedWork({
        cli_session_id: 'sess-1',
        options: { model: 'asked', allowed_tools: ['Bash(git status:*)', 'Edit'], max_turns: 4 },
        agent: { model: 'own', allowed_tools: ['Read'], permission_mode: 'plan' },
      }),
    );
    expect(argv).toEqual([
      '/opt/claude',
      ...['-p', '--output-format', 'stream-json', '--verbose', '--input-format', 'text'],
      ...['--permission-mode', 'plan', '--model', 'asked', '--resume', 'sess-1', '--max-turns', '4'],
      '--allowedTools=Bash(git status:*),Edit',
    ]);
  });

  it('give instructions of agent and request in a file, however long', async () => {
    const agent = { custom_instructions: 'be brief' };
    const { argv } = await order(claimedWork({ agent, options: { system_prompt: 'x'.repeat(99_000) } }));
    const path = argv[argv.indexOf('--append-system-prompt-file') + 1]!;
    expect(readFileSync(path, 'utf8')).toBe(`be brief\n\n${'x'.repeat(99_000)}`);
  });
});

describe('program', () => {
  it('is the agent’s own, else the configured one, else from PATH, else the packaged one', async () => {
    writeFileSync(join(home, 'claude'), '#!/bin/sh\n', { mode: 0o755 });
    const program = async (agent: { executable?: string }, h: Partial<AdapterHost>) =>
      (await order(claimedWork({ agent }), host(h))).argv[0];
    expect(await program({ executable: './mine' }, {})).toBe(join(home, 'mine'));
    expect(await program({}, {})).toBe('/opt/claude');
    expect(await program({}, { claudeBin: null, env: { PATH: home } })).toBe(join(home, 'claude'));
    expect(await program({}, { claudeBin: null, env: { PATH: '/nowhere' }, packaged: { claude: '/pkg/claude' } })).toBe(
      '/pkg/claude',
    );
    expect(await program({}, { claudeBin: null, env: { PATH: '/nowhere' } })).toBe('claude');
  });
});
