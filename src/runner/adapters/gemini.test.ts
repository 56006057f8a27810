import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimedWork } from '../../../test/support/claimed-work.ts';
import { verifies } from '../../../test/support/verifies.ts';
import type { LentCredential } from '../../contract/credential.ts';
import type { AdapterHost, ProcessOrder } from './adapter.ts';
import { tidy } from './all.ts';
import { geminiAdapter } from './gemini.ts';

let home: string;
let cwd: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'runner-gemini-'));
  cwd = join(home, 'work');
  mkdirSync(join(home, 'real'));
  symlinkSync(join(home, 'real'), cwd);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const host = (over: Partial<AdapterHost> = {}): AdapterHost => ({
  home,
  env: { PATH: '/nowhere', HOME: join(home, 'someone') },
  claudeBin: '/opt/claude',
  packaged: { gemini: '/pkg/gemini' },
  serverUrl: null,
  isolation: 'none',
  ownedByAgent: () => {},
  ...over,
});
const key: LentCredential = { id: 'cred-1', kind: 'gemini_api_key', env: { GEMINI_API_KEY: 'lent-value' } };
type Over = NonNullable<Parameters<typeof claimedWork>[0]>;
const work = (over: Over = {}) =>
  claimedWork({ credential: key, ...over, agent: { adapter: 'gemini', ...over.agent } });
const order = async (claim = work(), h = host()): Promise<ProcessOrder> => {
  const made = await geminiAdapter.order(claim, cwd, h);
  if ('prepare_error' in made) throw new Error(made.prepare_error.message);
  return made;
};
const settingsIn = (env: Record<string, string>) =>
  JSON.parse(readFileSync(join(env.GEMINI_CLI_HOME!, '.gemini', 'settings.json'), 'utf8'));

describe('arguments', () => {
  it(verifies('R45')('carry neither the message nor a secret nor instructions'), async () => {
    const made = await order(work({ message: 'the message', agent: { custom_instructions: 'be brief' } }));
    expect(made.stdin).toBe('the message');
    expect(made.argv.join(' ')).not.toMatch(/the message|lent-value|be brief/);
  });

  it('prefer the request over the agent; no value can become a switch', async () => {
    const { argv } = await order(
      work({
        cli_session_id: '--yolo',
        options: { model: 'asked', allowed_tools: ['run_shell_command(git status)', 'write_file'] },
        agent: { model: 'own', permission_mode: 'plan' },
      }),
    );
    expect(argv).toEqual([
      ...['/pkg/gemini', '--output-format', 'stream-json', '--approval-mode', 'plan'],
      ...['--model=asked', '--resume=--yolo', '--allowed-tools=run_shell_command(git status),write_file'],
    ]);
  });

  it(verifies('R30')('give each permission mode its approval mode, and yolo only to bypass'), async () => {
    const mode = async (permission_mode: 'default' | 'plan' | 'dontAsk' | 'acceptEdits' | 'bypassPermissions') =>
      (await order(work({ agent: { permission_mode } }))).argv[4];
    expect(await mode('default')).toBe('default');
    expect(await mode('dontAsk')).toBe('default');
    expect(await mode('acceptEdits')).toBe('auto_edit');
    expect(await mode('bypassPermissions')).toBe('yolo');
  });
});

describe('environment', () => {
  it(verifies('R28')('makes the CLI itself the leader, and its words plain'), async () => {
    expect((await order()).env).toMatchObject({
      GEMINI_CLI_NO_RELAUNCH: 'true',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      NO_COLOR: '1',
      TZ: 'UTC',
    });
  });

  it(
    verifies(
      'R29',
      'D25',
    )('leaves no route and no login for a .env of the workspace to set, but what the agent was given'),
    async () => {
      const { env } = await order(work({ agent: { env: { GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:1' } } }));
      expect(env).toMatchObject({
        GEMINI_API_KEY: 'lent-value',
        GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:1',
        GOOGLE_API_KEY: '',
        GOOGLE_GENAI_USE_VERTEXAI: '',
        GOOGLE_APPLICATION_CREDENTIALS: '',
      });
      expect((await order(work({ credential: null }))).env).not.toHaveProperty('GOOGLE_API_KEY');
    },
  );
});

describe('its home', () => {
  it(verifies('R29')('is made for each run, knows its directory, and links the sessions of the agent'), async () => {
    const claims = [work(), work({ credential: { ...key, id: 'cred-2' } })];
    const homes = [];
    for (const claim of claims) homes.push((await order(claim)).env.GEMINI_CLI_HOME!);
    expect(homes[0]).not.toBe(homes[1]);
    const project = (dir: string) => join(dir, '.gemini', 'tmp', 'run');
    expect(readFileSync(join(project(homes[0]!), '.project_root'), 'utf8')).toBe(realpathSync(cwd));
    for (const dir of homes)
      expect(readlinkSync(join(project(dir), 'chats'))).toBe(join(home, 'runner', 'agents', 'agent-1', 'gemini-chats'));
    writeFileSync(join(project(homes[0]!), 'chats', 'session.jsonl'), '');
    await tidy(claims[0]!, host());
    expect(existsSync(homes[0]!)).toBe(false);
    expect(existsSync(join(project(homes[1]!), 'chats', 'session.jsonl'))).toBe(true);
  });

  it('names the way to log in, the turns of the request, and no updates', async () => {
    const { env } = await order(work({ options: { max_turns: 7 } }));
    expect(settingsIn(env)).toEqual({
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      model: { maxSessionTurns: 7 },
    });
  });

  it('has the login, settings and memory of the host’s user, without touching them', async () => {
    const users = join(home, 'someone', '.gemini');
    mkdirSync(join(users, 'tmp'), { recursive: true });
    writeFileSync(join(users, 'oauth_creds.json'), 'login');
    writeFileSync(join(users, 'projects.json'), 'of the user');
    writeFileSync(
      join(users, 'settings.json'),
      '{"general":{"vimMode":true},"security":{"auth":{"selectedType":"oauth-personal"}}}',
    );
    writeFileSync(join(users, 'GEMINI.md'), 'remember');
    const { env } = await order(work({ credential: null, agent: { custom_instructions: 'be kind' } }));
    const dir = join(env.GEMINI_CLI_HOME!, '.gemini');
    expect(readFileSync(join(dir, 'oauth_creds.json'), 'utf8')).toBe('login');
    expect(readFileSync(join(dir, 'GEMINI.md'), 'utf8')).toBe('remember\n\nbe kind');
    expect(settingsIn(env)).toMatchObject({
      general: { vimMode: true, enableAutoUpdate: false },
      security: { auth: { selectedType: 'oauth-personal' } },
    });
    expect(existsSync(join(dir, 'projects.json'))).toBe(false);
    writeFileSync(join(users, 'settings.json'), '{ /* mine */ }');
    const no = await geminiAdapter.order(work({ credential: null }), cwd, host());
    expect(no).toMatchObject({
      prepare_error: { code: 'gemini_settings', message: expect.stringContaining('comments') },
    });
  });
});
