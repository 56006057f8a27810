/**
 * The pool before and after each kind of ending, with the real Claude Code CLI, server, runner and holder against the scripted
 * provider: only what the provider said moves a credential, and a switch goes on in the same session. Nothing shows a secret.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelApi, startModelApi } from '../model-api/server.ts';
import { noCgroup } from '../support/held.ts';
import { claudeBin, type Installation, install } from '../support/installation.ts';
import { verifies } from '../support/verifies.ts';

let drover: Installation;
let provider: ModelApi;
/** A provider of its own: its lane is held up, and no other test waits for it. */
let stormy: ModelApi;
const planted: string[] = [];

beforeAll(async () => {
  provider = await startModelApi();
  stormy = await startModelApi();
  drover = await install();
});
afterAll(async () => {
  await drover?.end();
  await provider?.close();
  await stormy?.close();
});

const store = async (name: string, kind: string, pool: string): Promise<string> => {
  // Its last 20 characters stand nowhere else: a CLI may keep the end of a key alone.
  const end = `planted-${String(planted.length).padStart(12, '0')}`;
  const token = `sk-ant-${kind === 'claude_oauth' ? 'oat01' : 'api03'}-${name}-${end}`;
  planted.push(token);
  const r = await drover.api('POST', '/api/subscriptions', { name, kind, token, pool });
  expect(r.status, JSON.stringify(r.body)).toBe(201);
  return token;
};
const agent = async (name: string, more: Record<string, unknown> = {}) => {
  const r = await drover.api('POST', '/api/agents', {
    name,
    executable: claudeBin,
    model: 'claude-sonnet-4-5',
    pool: name,
    allowed_tools: ['Bash'],
    env: { ANTHROPIC_BASE_URL: provider.url },
    ...more,
  });
  expect(r.status, JSON.stringify(r.body)).toBe(201);
};
const start = async (name: string, message: string, more: Record<string, unknown> = {}): Promise<string> =>
  (await drover.api('POST', `/api/agents/${name}/task`, { message, async_mode: true, ...more })).body.execution_id;
const row = async (id: string) => (await drover.api('GET', `/api/executions/${id}`)).body;
/** name → state, of one pool. */
const pool = async (name: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await drover.api('GET', '/api/subscriptions')).body
      .filter((c: { pool: string }) => c.pool === name)
      .map((c: { name: string; state: string }) => [c.name, c.state]),
  );
const events = async () => (await drover.api('GET', '/api/subscriptions/events')).body as { execution_id: string }[];

/** All events from the first one to the start of that execution, as they come. */
const eventsUntil = async (id: string): Promise<string> => {
  const leave = new AbortController();
  const answer = await fetch(`${drover.url}/api/events?after=0`, {
    headers: { authorization: `Bearer ${drover.token}` },
    signal: leave.signal,
  });
  let text = '';
  const decoder = new TextDecoder();
  for await (const part of answer.body!) {
    text += decoder.decode(part, { stream: true });
    if (text.includes(id) && text.slice(text.indexOf(id)).includes('execution.started')) break;
  }
  leave.abort();
  return text;
};

describe('a login that the provider refuses', () => {
  it.each([
    ['a plan’s token', 'claude_oauth', 'token', '401', 'rejected', 'auth_failed'],
    ['an API key', 'anthropic_api_key', 'key', '401', 'rejected', 'auth_failed'],
    ['a plan with a reset', 'claude_oauth', 'window', '429', 'limited', 'usage_limit'],
  ])(
    verifies('R38', 'R39', 'R24', 'D19', 'D26')('%s: its work goes on with another one, in the same session'),
    async (_, kind, name, mode, state, cause) => {
      await agent(name);
      const first = await store(`${name}-1`, kind, name);
      provider.logins.set(first, mode);
      expect(await pool(name)).toEqual({ [`${name}-1`]: 'unknown' });
      const from = provider.requests.length;
      const id = await start(name, 'Remember the word heron. [[mode:slow pieces=2 ms=10 turns=2]]');
      // Stored while the first turns are made: the agent draws from its pool as it is when it fails.
      await provider.arrived(from + 1);
      const second = await store(`${name}-2`, kind, name);
      const ended = await drover.ended(id);
      expect(ended, JSON.stringify(ended.attempts)).toMatchObject({ status: 'success', attempt: 2 });
      expect(ended.attempts[0]).toMatchObject({ verdict: { cause, tier: 'structured' }, decision: { kind: 'switch' } });
      expect(await pool(name)).toEqual({ [`${name}-1`]: state, [`${name}-2`]: 'ok' });
      expect((await events()).filter((e) => e.execution_id === id)).toHaveLength(1);
      const asked = provider.requests.slice(from).filter((r) => JSON.stringify(r.messages).includes('heron'));
      const login = (r: { apiKey: string | null; bearer: string | null }) => r.apiKey ?? r.bearer;
      expect(new Set(asked.map(login))).toEqual(new Set([first, second]));
      // The first request of the second login was shown what was said and done on the first one.
      const resumed = JSON.stringify(asked.find((r) => login(r) === second)!.messages);
      expect(resumed).toContain('tool_result');
      expect(resumed.match(/heron/g)!.length).toBeGreaterThan(1);
      // Costs add up over both, each its own part only.
      const parts = ended.attempts.map((a: { cost_usd: number | null }) => a.cost_usd ?? 0);
      expect(ended.cost).toBeCloseTo(parts[0] + parts[1], 9);
    },
  );
});

describe('what is not the login’s', () => {
  const killed = (signal: NodeJS.Signals) => async (id: string) => {
    await drover.until(
      'it runs',
      () => row(id),
      (e) => e.started_at !== null && e.attempts?.[0]?.id,
    );
    const [pid] = await drover.until(
      'the CLI runs',
      async () => drover.pids('stream-json'),
      (p) => p.length > 0,
    );
    process.kill(pid!, signal);
  };
  it.each<[string, string, ((id: string) => Promise<void>) | null]>([
    ['the page of a proxy', '[[mode:403page]]', null],
    ['SIGTERM', '[[mode:hang]]', killed('SIGTERM')],
    ['SIGINT', '[[mode:hang]]', killed('SIGINT')],
    ['SIGKILL', '[[mode:hang]]', killed('SIGKILL')],
  ])(verifies('R36', 'R40', 'D16')('%s leaves the pool as it was'), async (what, message, then) => {
    const name = what.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    await agent(name);
    await store(`${name}-1`, 'claude_oauth', name);
    await store(`${name}-2`, 'claude_oauth', name);
    const before = [await pool(name), (await events()).length];
    const id = await start(name, `Go. ${message}`, { max_retries: 0 });
    const from = provider.requests.length;
    if (then !== null) {
      await provider.arrived(from + 1);
      await then(id);
    }
    const ended = await drover.until(
      'its first attempt was decided',
      () => row(id),
      (e) => e.attempts?.[0]?.decision != null,
    );
    expect(ended.attempts[0].verdict.switch_credential).not.toBe(true);
    expect([await pool(name), (await events()).length]).toEqual(before);
    await drover.api('POST', `/api/agents/${name}/executions/${id}/terminate`, {});
  });

  it(verifies('R36', 'R40')('a storm of 529 leaves the pool as it was'), async () => {
    // The CLI's own retries of a 529 would take a minute.
    const env = { ANTHROPIC_BASE_URL: stormy.url, CLAUDE_CODE_MAX_RETRIES: '0' };
    await agent('storm', { env });
    for (const login of ['storm-1', 'storm-2']) await store(login, 'claude_oauth', 'storm');
    const before = [await pool('storm'), (await events()).length];
    const ids = await Promise.all([1, 2, 3].map((n) => start('storm', `Go ${n}. [[mode:529]]`)));
    const decided = await drover.until(
      'each was answered',
      () => Promise.all(ids.map(row)),
      (rows) =>
        rows.every((e) => e.attempts?.[0]?.verdict?.cause === 'overloaded' || e.wait?.reason === 'provider_paused'),
    );
    expect(decided.filter((e) => e.attempts?.[0]?.verdict?.switch_credential)).toEqual([]);
    expect([await pool('storm'), (await events()).length]).toEqual(before);
    for (const id of ids) await drover.api('POST', `/api/agents/storm/executions/${id}/terminate`, {});
  });

  it(verifies('R36', 'R40', 'D17')('out of memory leaves the pool as it was'), async () => {
    await agent('hungry', { resources: { memory: '64m' } });
    await store('hungry-1', 'claude_oauth', 'hungry');
    const before = [await pool('hungry'), (await events()).length];
    const ended = await drover.ended(await start('hungry', 'Go. [[mode:ok]]'));
    expect(ended.cause).toBe(noCgroup() === null ? 'oom_killed' : 'memory_limit');
    expect([await pool('hungry'), (await events()).length]).toEqual(before);
  });
});

describe('a secret', () => {
  it(verifies('R45')('stands in no file, log, event, answer or command line'), async () => {
    await agent('vault');
    await store('vault-1', 'anthropic_api_key', 'vault');
    const from = provider.requests.length;
    const id = await start('vault', 'Go. [[mode:hang]]');
    await provider.arrived(from + 1);
    // Processes end, and the CLI moves its files, while they are read.
    const read = (path: string): string => {
      try {
        return readFileSync(path, 'latin1');
      } catch (error) {
        if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
        throw error;
      }
    };
    const lines = readdirSync('/proc')
      .filter((p) => /^\d+$/.test(p))
      .map((p) => read(`/proc/${p}/cmdline`));
    const answers = await Promise.all(
      [
        '/api/subscriptions',
        '/api/executions',
        `/api/executions/${id}/why`,
        '/api/operator-queue',
        '/api/audit',
        '/api/settings',
        '/api/subscriptions/events',
        '/api/subscriptions/switches',
        '/api/credentials',
        '/api/agents/vault',
        '/api/agents/vault/credentials/status',
        `/api/agents/vault/executions/${id}/log`,
        `/api/executions/${id}`,
        '/api/doctor',
        '/api/export',
      ].map(async (path) => {
        const { status, body } = await drover.api('GET', path);
        expect(status, path).toBe(200);
        return JSON.stringify(body);
      }),
    );
    answers.push(await eventsUntil(id));
    const files = readdirSync(drover.home, { withFileTypes: true, recursive: true })
      .filter((e) => e.isFile())
      .map((e) => join(e.parentPath, e.name));
    const holds = (text: string) => planted.some((token) => text.includes(token.slice(-20)));
    expect(lines.filter(holds)).toEqual([]);
    expect(answers.filter(holds)).toEqual([]);
    expect(answers.at(-1)).toContain('credential.changed');
    expect(holds(drover.output())).toBe(false);
    expect(files.filter((file) => holds(read(file)))).toEqual([]);
    // It looked where a secret could stand: the database, the runs' spool and what the CLI keeps.
    for (const place of ['/drover.db', '/runner/attempts/', '/runner/cli/', '/log/'])
      expect(files.filter((file) => file.includes(place)).length, place).toBeGreaterThan(0);
    await drover.api('POST', `/api/agents/vault/executions/${id}/terminate`, {});
    await drover.ended(id);
  });
});
