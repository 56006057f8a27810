import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, openFleet } from '../../test/support/fleet.ts';
import { verifies } from '../../test/support/verifies.ts';
import { createDispatcher } from '../dispatch/dispatcher.ts';
import { workDiff } from '../runner/workspace/diff.ts';
import { buildApp } from './app.ts';

/** One installation for all; a test that counts, or that needs to be the first, opens its own. */
let fleet: Fleet;
beforeAll(async () => {
  fleet = await openFleet();
});
afterAll(() => fleet.end());
afterEach(async () => {
  for (const { name } of (await fleet.api('GET', '/api/agents')).body) await fleet.api('DELETE', `/api/agents/${name}`);
  for (const { id } of (await fleet.api('GET', '/api/subscriptions')).body)
    await fleet.api('DELETE', `/api/subscriptions/${id}`);
});

const open = (url: string) => fleet.app.inject({ method: 'GET', url });
const agent = () => fleet.agent('one');
const queue = async () =>
  (await fleet.api('POST', '/api/agents/one/task', { message: 'go', async_mode: true })).body.execution_id;

describe('the fleet', () => {
  it(
    verifies('R9')('shows its limits with their source; a stored one wins over the environment and survives'),
    async () => {
      const own = await openFleet({ BACKEND_AGENT_CALL_LIMIT: '5' });
      const shown = async () => (await own.api('GET', '/api/fleet/limits')).body;
      expect(await shown()).toMatchObject({
        agent_call_limit: 5,
        agent_call_limit_source: 'environment',
        queue_timeout_s: 3600,
        queue_timeout_source: 'default',
        ceiling: 1000,
        paused: false,
        running: 0,
        queued: 0,
      });
      const changed = await own.api('PUT', '/api/fleet/limits', { agent_call_limit: 2, queue_timeout_s: 0 });
      expect(changed.body).toMatchObject({
        agent_call_limit: 2,
        agent_call_limit_source: 'setting',
        queue_timeout_s: 0,
        queue_timeout_source: 'setting',
      });
      await own.api('PUT', '/api/fleet/limits', { agent_call_limit: null });
      expect(await shown()).toMatchObject({
        agent_call_limit: 5,
        agent_call_limit_source: 'environment',
        queue_timeout_s: 0,
      });
      for (const bad of [
        { agent_call_limit: 0 },
        { agent_call_limit: -1 },
        { agent_call_limit: 'x' },
        { queue_timeout_s: -1 },
      ])
        expect((await own.api('PUT', '/api/fleet/limits', bad)).status).toBe(422);
      await own.end();
    },
  );

  it('takes no limit of the fleet as a free setting, past its bounds', async () => {
    for (const key of ['agent_call_limit', 'queue_timeout_s', 'fleet_paused']) {
      const answer = await fleet.api('PUT', `/api/settings/${key}`, { value: 'nonsense' });
      expect([answer.status, answer.body.detail]).toEqual([422, expect.stringContaining('/api/fleet/')]);
    }
  });

  it(verifies('R16')('starts nothing while paused, lets what runs end, and goes on at resume'), async () => {
    await agent();
    const first = await queue();
    const [work] = await fleet.runner.claim();
    await fleet.runner.begin(work!);
    expect((await fleet.api('POST', '/api/fleet/pause')).body).toEqual({ paused: true });
    const second = await queue();
    const next = fleet.runner.claim();
    expect((await fleet.api('GET', '/api/fleet/limits')).body).toMatchObject({ paused: true, running: 1, queued: 1 });
    await fleet.runner.finish(work!);
    expect((await fleet.row(first)).status).toBe('success');
    expect(await fleet.row(second)).toMatchObject({ status: 'queued', wait: { reason: 'fleet_paused' } });
    expect((await fleet.api('POST', '/api/fleet/resume')).body).toEqual({ paused: false });
    expect((await next).map((c) => c.execution_id)).toEqual([second]);
  });

  it('says critical without a runner, healthy with one, degraded while paused', async () => {
    const own = await openFleet();
    await own.agent('one');
    const overall = async () => (await own.api('GET', '/api/ops/fleet/health')).body.overall;
    expect(await overall()).toBe('critical');
    await own.api('POST', '/api/agents/one/task', { message: 'go', async_mode: true });
    const [work] = await own.runner.claim();
    await own.runner.run(work!);
    expect(await overall()).toBe('healthy');
    await own.api('POST', '/api/fleet/pause');
    expect(await overall()).toBe('degraded');
    expect((await own.api('GET', '/api/ops/fleet/status')).body).toMatchObject({
      summary: { total: 1, running: 1, stopped: 0 },
      agents: [{ name: 'one', status: 'running' }],
    });
    await own.end();
  });
});

describe('health', () => {
  it('answers without a key, from memory', async () => {
    const body = (await open('/health')).json();
    expect(body).toMatchObject({ status: 'healthy', uptime_s: 0, loop_lag_p99_ms: expect.any(Number) });
    expect(new Date(body.timestamp).getTime()).toBe(fleet.clock.now());
    expect((await open('/ready')).json()).toMatchObject({ status: 'ready', schema: expect.any(Number) });
  });

  it('answers when the store is gone, and then says that it is not ready', async () => {
    const own = await openFleet();
    await own.deps.store.close();
    expect((await own.app.inject({ method: 'GET', url: '/health' })).statusCode).toBe(200);
    const ready = await own.app.inject({ method: 'GET', url: '/ready' });
    expect([ready.statusCode, ready.json().error.code]).toEqual([503, 'not_ready']);
    const list = await own.api('GET', '/api/agents');
    expect([list.status, list.body.error.retryable]).toEqual([503, true]);
    await own.end();
  });

  it('says the version to those who are signed in, and the invariants to people', async () => {
    expect((await open('/api/version')).statusCode).toBe(401);
    expect((await fleet.api('GET', '/api/version')).body).toMatchObject({ version: '0.1.0', runner_protocol: 1 });
    const doctor = await fleet.api('GET', '/api/doctor');
    expect(doctor.body.ok).toBe(true);
    expect(doctor.body.checks.length).toBeGreaterThan(0);
  });
});

describe('/metrics', () => {
  const value = (text: string, name: string) =>
    Number(
      text
        .split('\n')
        .find((l) => l.startsWith(`${name} `) || l.startsWith(`${name}{`))
        ?.split(' ')
        .at(-1) ?? Number.NaN,
    );

  it('counts from rows: what waits and why, what runs, how things ended', async () => {
    const own = await openFleet();
    await own.agent('one');
    for (let i = 0; i < 2; i++) await own.api('POST', '/api/agents/one/task', { message: 'go', async_mode: true });
    const [work] = await own.runner.claim(1);
    await own.runner.run(work!);
    await own.clock.advance(7_000);
    const payload = (await own.api('GET', '/metrics')).text;
    expect(value(payload, 'drover_executions{state="queued"}')).toBe(1);
    expect(value(payload, 'drover_executions_ended{cause="success"}')).toBe(1);
    expect(value(payload, 'drover_queue_oldest_wait_seconds')).toBeGreaterThanOrEqual(7);
    expect(value(payload, 'drover_fleet_limit')).toBe(8);
    expect(value(payload, 'drover_runners{state="connected"}')).toBe(1);
    expect(value(payload, 'drover_process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(payload).toMatch(/drover_executions_waiting\{reason="\w+"\} 1/);
    await own.end();
  });

  it('is open, and so holds no name', async () => {
    await fleet.agent('secret-project');
    await fleet.api('POST', '/api/agents/secret-project/task', { message: 'go', async_mode: true });
    const { payload, statusCode } = await open('/metrics');
    expect(statusCode).toBe(200);
    expect(payload).not.toContain('secret-project');
  });
});

describe('credentials', () => {
  const secret = 'sk-ant-very-secret-1234';
  const store = (body: object = {}) =>
    fleet.api('POST', '/api/subscriptions', { name: 'main', kind: 'anthropic_api_key', token: secret, ...body });

  it(verifies('R45')('are stored sealed, shown by their state, and never given out again'), async () => {
    const made = await store({ max_parallel: 2, pool: 'p' });
    expect(made).toMatchObject({
      status: 201,
      body: { name: 'main', kind: 'anthropic_api_key', state: 'unknown', max_parallel: 2, pool: 'p', agents: [] },
    });
    expect(made.text).not.toContain(secret);
    expect((await fleet.api('GET', '/api/subscriptions')).text).not.toContain(secret);
    const [row] = await fleet.deps.store.read('credentials', {});
    expect(row!.sealed).not.toContain(secret);
    expect(fleet.deps.sealer.open(row!.id, row!.sealed!)).toBe(secret);
  });

  it('are refused without a secret, with one that is none, and twice under one name', async () => {
    expect((await store({ token: undefined })).body.error.details).toMatchObject([{ field: 'token' }]);
    expect((await store({ token: 'two words' })).status).toBe(422);
    expect((await store({ token: 'sk-ant-oat01-x' })).body.detail).toContain('looks like claude_oauth');
    expect((await store({ kind: 'claude_oauth', token: 'sk-ant-api03-x' })).status).toBe(422);
    expect((await store({ kind: 'env', token: 'no lines' })).status).toBe(422);
    expect((await store({ kind: 'host_login' })).status).toBe(422);
    await store();
    expect((await store()).status).toBe(409);
    expect((await fleet.api('GET', '/api/subscriptions')).body).toHaveLength(1);
  });

  it('that do not begin like their kind are stored with a word of warning that shows nothing of them', async () => {
    const ofVendors = { claude_oauth: 'sk-ant-oat01-x', anthropic_api_key: 'sk-ant-api03-x', openai_api_key: 'sk-x' };
    for (const [kind, token] of Object.entries({ ...ofVendors, gemini_api_key: 'AIzaX' }))
      expect((await store({ name: kind, kind, token })).body.warning).toBeUndefined();
    const odd = await store({ token: 'hello' });
    expect(odd).toMatchObject({ status: 201, body: { warning: expect.stringContaining('sk-ant-api') } });
    expect(odd.text).not.toContain('hello');
    const replaced = await fleet.api('PUT', '/api/subscriptions/openai_api_key', { token: 'goodbye' });
    expect(replaced.body.warning).toContain('sk-');
    expect((await fleet.api('PUT', '/api/subscriptions/main', { max_parallel: 3 })).body.warning).toBeUndefined();
  });

  it('of kind env show their names only', async () => {
    const made = await store({ name: 'e', kind: 'env', token: 'FOO=hidden-1\nexport BAR="hidden-2"\n' });
    expect(made.body.names).toEqual(['FOO', 'BAR']);
    expect(made.text).not.toContain('hidden');
  });

  it('are lent to the agent they are assigned to, and to no other of its kind once they are taken off', async () => {
    await agent();
    await fleet.api('PUT', '/api/agents/one', { adapter: 'claude' });
    await store();
    expect((await fleet.api('PUT', '/api/subscriptions/agents/one', { subscription_name: 'main' })).body).toMatchObject(
      {
        agent_name: 'one',
        credential: 'main',
      },
    );
    expect((await fleet.api('GET', '/api/subscriptions')).body).toMatchObject([{ agents: ['one'] }]);
    expect((await fleet.api('GET', '/api/agents/one')).body).toMatchObject({
      credential: 'main',
      health: { credential: 'unknown' },
    });
    await queue();
    const [work] = await fleet.runner.claim();
    expect(work!.credential).toMatchObject({ kind: 'anthropic_api_key', env: { ANTHROPIC_API_KEY: secret } });
    await fleet.api('DELETE', '/api/subscriptions/agents/one');
    expect((await fleet.api('GET', '/api/agents/one')).body.credential).toBeNull();
    expect((await fleet.api('PUT', '/api/subscriptions/agents/one', { subscription: 'nope' })).status).toBe(404);
    expect((await fleet.api('PUT', '/api/subscriptions/agents/one', {})).status).toBe(422);
  });

  it('leave their agents when they are deleted', async () => {
    await agent();
    const { id } = (await store()).body;
    await fleet.api('PUT', '/api/subscriptions/agents/one', { subscription: id });
    expect((await fleet.api('DELETE', `/api/subscriptions/${id}`)).status).toBe(200);
    expect((await fleet.api('GET', '/api/agents/one')).body.credential).toBeNull();
    expect((await fleet.api('DELETE', `/api/subscriptions/${id}`)).status).toBe(404);
  });

  it('of a provider are set and shown masked among the settings', async () => {
    const put = (api_key: string) => fleet.api('PUT', '/api/settings/api-keys/anthropic', { api_key });
    const set = await put(secret);
    expect(set.body.anthropic).toEqual({ configured: true, masked: '...1234', source: 'settings' });
    expect(set.text).not.toContain('secret');
    expect((await put('sk-ant-another-key-5678')).body.anthropic.masked).toBe('...5678');
    expect(await fleet.deps.store.read('credentials', {})).toHaveLength(1);
    expect((await fleet.api('DELETE', '/api/settings/api-keys/anthropic')).status).toBe(200);
    expect((await fleet.api('GET', '/api/settings/api-keys')).body.anthropic.configured).toBe(false);
  });
});

describe('settings', () => {
  it('are stored, listed, changed and forgotten', async () => {
    expect((await fleet.api('PUT', '/api/settings/theme', { value: 'dark' })).body).toMatchObject({
      key: 'theme',
      value: 'dark',
    });
    await fleet.api('PUT', '/api/settings/theme', { value: 7 });
    expect((await fleet.api('GET', '/api/settings/theme')).body.value).toBe('7');
    expect((await fleet.api('GET', '/api/settings')).body).toMatchObject([{ key: 'theme' }]);
    const forget = async () => (await fleet.api('DELETE', '/api/settings/theme')).body.deleted;
    expect([await forget(), await forget()]).toEqual([true, false]);
    expect((await fleet.api('GET', '/api/settings/theme')).status).toBe(404);
    expect((await fleet.api('PUT', '/api/settings/theme', {})).status).toBe(422);
  });
});

it.each(['time_zone', 'Timezone', 'morning_report', 'morning-report-at'])(
  'a setting that can only be meant for one of ours is refused with the names there are: %s',
  async (key) => {
    const answer = await fleet.api('PUT', `/api/settings/${key}`, { value: 'Europe/Berlin' });
    expect([answer.status, answer.body.detail]).toEqual([
      422,
      expect.stringContaining('timezone and morning_report_at'),
    ]);
    expect((await fleet.api('GET', '/api/settings')).body).toEqual([]);
  },
);

it('a setting of a client’s own is kept, and told to be just that', async () => {
  const kept = await fleet.api('PUT', '/api/settings/nonsense', { value: 'x' });
  expect(kept.body).toMatchObject({ known: false, note: expect.stringContaining('timezone and morning_report_at') });
  expect((await fleet.api('PUT', '/api/settings/timezone', { value: 'UTC' })).body).toMatchObject({ known: true });
});

describe('runners', () => {
  it('are enrolled with a key that is shown once and dies with them', async () => {
    const made = await fleet.api('POST', '/api/runners', { name: 'second', labels: ['gpu'] });
    expect(made.status).toBe(201);
    const { token, id } = made.body;
    const hello = () =>
      fleet.app.inject({ method: 'GET', url: '/api/users/me', headers: { authorization: `Bearer ${token}` } });
    expect((await hello()).json()).toMatchObject({ username: id, role: 'runner' });
    const list = await fleet.api('GET', '/api/runners');
    expect(list.body.map((r: { name: string }) => r.name)).toContain('second');
    expect(list.text).not.toContain(token);
    expect((await fleet.api('DELETE', `/api/runners/${id}`)).status).toBe(200);
    expect((await hello()).statusCode).toBe(401);
  });
});

describe('the operator queue', () => {
  const raise = () =>
    fleet.deps.store.write('put_operator_item', {
      item: {
        id: fleet.deps.kernel.ids.next(fleet.clock.now()),
        kind: 'question',
        dedup_key: 'k',
        priority: 'high',
        title: 'Which one?',
        evidence: ['a'],
      },
      agent_name: 'one',
      execution_id: null,
      now: fleet.clock.now(),
      steady: fleet.clock.steady(),
    });

  it('shows what is open, and takes one answer', async () => {
    const { result } = await raise();
    const list = async (query = '') => (await fleet.api('GET', `/api/operator-queue${query}`)).body;
    expect(await list('?status=open')).toMatchObject([
      { id: result.id, title: 'Which one?', status: 'open', count: 1 },
    ]);
    expect((await fleet.api('POST', `/api/operator-queue/${result.id}/acknowledge`)).body.status).toBe('acknowledged');
    expect(await list('?status=open')).toEqual([]);
    const answer = (text: string) => fleet.api('POST', `/api/operator-queue/${result.id}/respond`, { answer: text });
    expect((await answer('this')).body).toMatchObject({ status: 'answered', answer: 'this' });
    expect((await answer('this')).status).toBe(200);
    const other = await answer('that');
    expect([other.status, other.body.error.details]).toEqual([409, { answer: 'this', answered_by: 'admin' }]);
    expect((await fleet.api('POST', '/api/operator-queue/nope/acknowledge')).status).toBe(404);
    expect((await fleet.api('POST', `/api/operator-queue/${result.id}/respond`, {})).status).toBe(422);
  });
});

describe('the documents and the page', () => {
  it('describe every route with who may use it, in OpenAPI 3.1', async () => {
    const document = (await open('/openapi.json')).json();
    expect(document.openapi).toBe('3.1.0');
    const create = document.paths['/api/agents'].post;
    expect(create.requestBody.content['application/json'].schema).toMatchObject({ required: ['name'] });
    expect(create.responses['201'].content['application/json'].schema.properties.name).toEqual({ type: 'string' });
    expect(create.description).toContain('Operators and owners');
    expect(document.paths['/api/agents/{name}'].get.parameters).toMatchObject([
      { name: 'name', in: 'path', required: true },
    ]);
    expect(document.paths['/health'].get.security).toEqual([]);
    for (const path of ['/api/agents/{name}/chat', '/api/events', '/api/runner/claim', '/api/fleet/limits'])
      expect(Object.keys(document.paths)).toContain(path);
  });

  it('are a page without scripts under a policy that allows none', async () => {
    const docs = await open('/docs');
    expect([docs.statusCode, docs.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(docs.payload).toContain('/api/agents/{name}/capacity');
    expect(docs.payload).not.toMatch(/<script|style="/);
    expect(docs.headers['content-security-policy']).toContain("default-src 'none'");
    expect((await open('/docs/style.css')).headers['content-type']).toContain('text/css');
  });

  it('serve the built page at / and at its own paths, never below /api', async () => {
    const pageDir = join(fleet.deps.config.home, 'web');
    mkdirSync(join(pageDir, 'assets'), { recursive: true });
    writeFileSync(join(pageDir, 'index.html'), '<!doctype html><title>page</title>');
    writeFileSync(join(pageDir, 'assets', 'a-1.js'), 'let a;');
    const app = await buildApp({ ...fleet.deps, dispatcher: createDispatcher(fleet.deps), workDiff, pageDir });
    const get = (url: string) => app.inject({ method: 'GET', url });
    for (const url of ['/', '/index.html', '/runs/123']) {
      const page = await get(url);
      expect([url, page.statusCode, page.payload.includes('page')]).toEqual([url, 200, true]);
      expect(page.headers['content-security-policy']).toContain("script-src 'self'");
      expect(page.headers['content-security-policy']).not.toContain('unsafe');
      expect(page.headers['cache-control']).toBe('no-cache');
    }
    const asset = await get('/assets/a-1.js');
    expect(asset.headers['cache-control']).toContain('immutable');
    expect((await get('/assets/none.js')).statusCode).toBe(404);
    expect((await get('/..%2f..%2fowner.token')).statusCode).not.toBe(200);
    expect((await get('/api/unknown')).statusCode).toBe(401);
    await app.close();
    rmSync(pageDir, { recursive: true });
  });
});
