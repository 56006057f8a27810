import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { cli } from '../../test/support/cli.ts';

const undo: (() => void)[] = [];
afterEach(() => {
  for (const u of undo.splice(0)) u();
});

/** Answers every request alike and keeps what was asked. */
const answering = async (status: number, body: unknown, headers: Record<string, string> = {}) => {
  const asked: { method: string; url: string; body: unknown; headers: Record<string, unknown> }[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (d) => {
      text += d;
    });
    request.on('end', () => {
      asked.push({
        method: request.method!,
        url: request.url!,
        body: text === '' ? null : JSON.parse(text),
        headers: request.headers,
      });
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  undo.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const env = {
    DROVER_SERVER_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    DROVER_TOKEN: 'drover_k',
  };
  return { asked, env };
};

describe('creds', () => {
  it('takes the secret from stdin, and never from argv', async () => {
    const { asked, env } = await answering(201, { name: 'mine', kind: 'anthropic_api_key' });
    const r = await cli(['creds', 'add', 'mine'], { env, stdin: 'sk-planted\n' });
    expect(r.code).toBe(0);
    expect(asked).toMatchObject([
      {
        method: 'POST',
        url: '/api/subscriptions',
        body: { name: 'mine', kind: 'anthropic_api_key', token: 'sk-planted' },
      },
    ]);
    expect(r.out + r.err).not.toContain('sk-planted');
  });
  it('passes on what the server finds odd about it, beside the answer', async () => {
    const { env } = await answering(201, { name: 'mine', kind: 'anthropic_api_key', warning: 'Not like its kind.' });
    const r = await cli(['creds', 'add', 'mine', '--json'], { env, stdin: 'hello' });
    expect(r).toMatchObject({ code: 0, err: expect.stringContaining('mine: Not like its kind.') });
    expect(JSON.parse(r.out)).toMatchObject({ name: 'mine' });
  });
  it('says how to give a secret when none came', async () => {
    const { asked, env } = await answering(201, {});
    expect(await cli(['creds', 'add', 'mine'], { env, tty: true })).toMatchObject({
      code: 2,
      err: expect.stringContaining('printenv'),
    });
    expect(await cli(['creds', 'add', 'mine'], { env, stdin: ' \n' })).toMatchObject({
      code: 2,
      err: expect.stringContaining('stdin'),
    });
    expect(asked).toEqual([]);
  });
});

describe('costs', () => {
  it('has no amount for runs that told none, neither by line nor in all', async () => {
    const line = { cost_usd: 0, billed_usd: 0, notional_usd: 0, unknown_usd: 0, estimated_usd: 0 };
    const untold = { ...line, agent: 'quiet', runs: 2, unpriced_runs: 2 };
    const about = { from: '2026-12-01', timezone: 'UTC' };
    const all = await answering(200, { ...about, costs: [untold], total: untold });
    const { code, out } = await cli(['costs'], { env: all.env });
    expect([code, out]).toEqual([0, expect.stringContaining('What 2 runs since 2026-12-01 (UTC) cost is not known.')]);
    expect(out).not.toContain('$');
    const told = { ...line, cost_usd: 1.5, billed_usd: 1.5, agent: 'told', runs: 1, unpriced_runs: 0 };
    const some = await answering(200, {
      ...about,
      costs: [untold, told],
      total: { ...told, runs: 3, unpriced_runs: 2 },
    });
    expect((await cli(['costs'], { env: some.env })).out).toMatch(
      /\$1\.50 in 3 runs .*; of 2 the cost is not known\.\n$/,
    );
  });
});

describe('password', () => {
  it('comes on stdin, spaces and all, and is not repeated', async () => {
    const { asked, env } = await answering(200, { success: true });
    const r = await cli(['password'], { env, stdin: ' planted one \n' });
    expect(r.code).toBe(0);
    expect(asked).toMatchObject([{ method: 'POST', url: '/api/password', body: { new_password: ' planted one ' } }]);
    expect(r.out + r.err).not.toContain('planted');
    expect(await cli(['password'], { env, tty: true })).toMatchObject({
      code: 2,
      err: expect.stringContaining('read -rs'),
    });
  });
});

describe('a wrong call', () => {
  it.each([
    [['frobnicate'], 'frobnicate'],
    [['run'], 'agent'],
    [['ps', '--limit', '10x'], '--limit needs a whole number'],
    [['run', 'a', 'm', '--timeout', '10m'], '--timeout needs a whole number'],
    [['run', 'a', '--unknown'], '--unknown'],
    [['agent', 'add', 'a', '--adapter', 'clod'], 'claude, codex, gemini, command, http'],
    [['agent', 'add', 'a', '--env', 'NOVALUE'], 'NAME=VALUE'],
    [['agent', 'add', 'a', '--adapter', 'claude', '--', 'sh'], '--adapter command'],
    [['agent', 'set', 'a'], 'Nothing to change'],
    [['run', 'a', 'm', '--chat', '--resume', 's'], '--resume'],
    [['run', 'a', 'm', '--async', '--wait', '3'], '--async'],
    [['runner'], 'DROVER_RUNNER_TOKEN'],
  ])('%j exits 2, names the trouble on stderr and asks no server', async (argv, word) => {
    const { asked, env } = await answering(200, {});
    const r = await cli(argv, { env, tty: true });
    expect(r.code).toBe(2);
    expect(r.out).toBe('');
    expect(r.err).toContain(word);
    expect(asked).toEqual([]);
  });

  it.each([
    [['agent', 'rm'], 'See drover agent rm --help.'],
    [['agent', '--json', 'frobnicate'], 'See drover agent --help.'],
    [['frobnicate'], 'See drover --help.'],
    [['logs', 'a', 'b'], 'Too many arguments: drover logs takes ID.'],
    [['schedule', 'frobnicate'], 'drover schedule has no such command. It has ls, add, show,'],
    [['keys', 'frobnicate'], 'drover keys has no such command. It has ls, add, revoke, rm.'],
  ])('%j points at the help of the command that was meant', async (argv, words) => {
    expect((await cli(argv)).err).toContain(words);
  });

  it('does not repeat a secret that was typed as an argument, and says where it belongs', async () => {
    const r = await cli(['creds', 'add', 'mine', 'sk-planted']);
    expect(r.code).toBe(2);
    expect(r.err).toContain('A secret comes on stdin');
    expect(r.err + r.out).not.toContain('sk-planted');
  });

  it('says it as JSON when JSON was asked for', async () => {
    const r = await cli(['ps', '--limit', 'x', '--json']);
    expect(r.code).toBe(2);
    expect(JSON.parse(r.err)).toMatchObject({ error: { code: 'usage', message: expect.stringContaining('--limit') } });
  });

  it('shows a bad configuration whole', async () => {
    const { env } = await answering(200, {});
    const r = await cli(['ps'], { env: { ...env, DROVER_PORT: 'x' } });
    expect(r.err).toContain('DROVER_PORT');
    expect(r.code).toBe(2);
  });

  it('asks for a message when there is none, and reads a pipe when there is one', async () => {
    const { env } = await answering(200, {});
    expect((await cli(['run', 'a'], { tty: true, env })).err).toContain('There is no message');
    expect((await cli(['run', 'a', '-'], { stdin: ' \n', env })).err).toContain('is empty');
  });
});

describe('help', () => {
  it('goes to stdout and exits 0; without a command it goes to stderr and exits 2', async () => {
    expect(await cli(['--help'])).toMatchObject({ code: 0, err: '', out: expect.stringContaining('diagnose') });
    expect(await cli([])).toMatchObject({ code: 2, out: '', err: expect.stringContaining('diagnose') });
    expect(await cli(['agent'])).toMatchObject({ code: 2, out: '', err: expect.stringContaining('add') });
    expect(await cli(['--version'])).toMatchObject({ code: 0, out: '9.9.9\n' });
  });
});

describe('a server that says no', () => {
  it.each([
    [401, 'unauthorized', 4],
    [404, 'not_found', 9],
    [422, 'invalid', 2],
    [429, 'backlog_full', 7],
    [503, 'not_ready', 3],
    [500, 'internal', 3],
  ])('%i %s exits %i with its sentence and what to do', async (status, code, exit) => {
    const { env } = await answering(status, {
      error: { code, message: 'No, because.', retryable: false },
      detail: 'No, because.',
    });
    const r = await cli(['agent', 'ls'], { env });
    expect(r.code).toBe(exit);
    expect(r.out).toBe('');
    expect(r.err).toContain('No, because.');
    expect(r.err.split('\n').length).toBeGreaterThan(2);
  });

  it('names the address and npm start when nothing listens', async () => {
    const { env } = await answering(200, {});
    for (const u of undo.splice(0)) u();
    const r = await cli(['ps'], { env });
    expect(r.code).toBe(3);
    expect(r.err).toContain(env.DROVER_SERVER_URL);
    expect(r.err).toContain('npm start');
  });
});

describe('agents from flags', () => {
  it('sends every field that a flag gives, and nothing else', async () => {
    const { asked, env } = await answering(201, { name: 'w', workspace: '/w' });
    const argv = [
      'agent',
      'add',
      'w',
      '--workspace',
      'repo',
      '--type',
      't',
      '--model',
      'm',
      '--env',
      'A=1',
      '--env',
      'B=x=y',
      '--memory',
      '384m',
      '--cpu',
      '0.5',
      '--max-parallel',
      '2',
      '--max-backlog',
      '9',
      '--timeout',
      '60',
      '--instructions',
      'be kind',
      '--permission-mode',
      'plan',
      '--allow-bypass-without-isolation',
      '--allow-tool',
      'Read',
      '--allow-tool',
      'Bash(ls:*)',
      '--workspace-mode',
      'copy',
      '--pool',
      'p',
      '--',
      './bin/x',
      '--json',
      '-c',
    ];
    const r = await cli(argv, { env, cwd: '/home/me' });
    expect(r.code).toBe(0);
    expect(r.out).toContain('Agent w is there');
    expect(asked[0]).toMatchObject({ method: 'POST', url: '/api/agents' });
    expect(asked[0]!.headers).toMatchObject({ authorization: 'Bearer drover_k', 'x-drover-client': 'cli' });
    expect(asked[0]!.body).toEqual({
      name: 'w',
      adapter: 'command',
      type: 't',
      model: 'm',
      workspace: '/home/me/repo',
      command: ['/home/me/bin/x', '--json', '-c'],
      env: { A: '1', B: 'x=y' },
      resources: { memory: '384m', cpu: '0.5' },
      max_parallel_tasks: 2,
      max_backlog_depth: 9,
      timeout_seconds: 60,
      custom_instructions: 'be kind',
      permission_mode: 'plan',
      allow_bypass_without_isolation: true,
      allowed_tools: ['Read', 'Bash(ls:*)'],
      workspace_mode: 'copy',
      pool: 'p',
    });
  });

  it('leaves a bare program name to PATH', async () => {
    const { asked, env } = await answering(201, { name: 'w' });
    await cli(['agent', 'add', 'w', '--executable', 'claude'], { env });
    expect(asked[0]!.body).toEqual({ name: 'w', executable: 'claude' });
  });

  it('prints JSON alone when asked', async () => {
    const { env } = await answering(200, [{ name: 'a', status: 'running' }]);
    expect((await cli(['agent', 'ls', '--json'], { env })).json()).toEqual([[{ name: 'a', status: 'running' }]]);
  });
});

describe('start', () => {
  it('becomes the server or the runner, with nothing in between', async () => {
    const became: string[] = [];
    const become = (program: string): never => {
      became.push(program);
      return undefined as never;
    };
    await cli(['start'], { become });
    await cli(['runner'], { become, env: { DROVER_RUNNER_TOKEN: 't', DROVER_SERVER_URL: 'http://127.0.0.1:1' } });
    await cli(['restore', '/b'], { become });
    expect(became).toEqual(['main', 'runner', 'restore']);
  });
});
