import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, openFleet, output } from '../../test/support/fleet.ts';
import { verifies } from '../../test/support/verifies.ts';

// One installation for all; each test leaves no agent behind.
let fleet: Fleet;
beforeAll(async () => {
  fleet = await openFleet();
});
afterAll(() => fleet.end());
afterEach(async () => {
  for (const { name } of (await fleet.api('GET', '/api/agents')).body) await fleet.api('DELETE', `/api/agents/${name}`);
});

const create = (body: object) => fleet.api('POST', '/api/agents', { adapter: 'command', command: ['cat'], ...body });

describe('agents', () => {
  it('are made with a cleaned name, accept work at once, and are shown by both lists and by name', async () => {
    const made = await create({ name: 'invalid name with spaces!', type: 'writer', max_parallel_tasks: 2 });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      name: 'invalid-name-with-spaces',
      status: 'running',
      type: 'writer',
      owner: 'admin',
      is_owner: true,
      is_shared: false,
      is_system: false,
      can_delete: true,
      max_parallel_tasks: 2,
      limits: { timeout_seconds: { value: null, effective: 3600 }, max_parallel_tasks: { value: 2, effective: 2 } },
      health: { desired_state: 'running', credential: null },
    });
    expect((await fleet.api('GET', '/api/agents')).body).toMatchObject([
      { name: 'invalid-name-with-spaces', running: 0 },
    ]);
    expect((await fleet.api('GET', '/api/agents/Invalid%20Name%20With%20Spaces!')).body.name).toBe(
      'invalid-name-with-spaces',
    );
  });

  it('are refused as a duplicate, with a credential in env, and with a bad number, and nothing is made', async () => {
    await create({ name: 'one' });
    const answers = {
      duplicate: await create({ name: 'One' }),
      credential: await create({ name: 'two', env: { ANTHROPIC_API_KEY: 'sk-ant-hidden' } }),
      workspace: await create({ name: 'two', workspace: '/no/such/directory' }),
      number: await create({ name: 'two', max_parallel_tasks: 0 }),
      text: await create({ name: 'two', timeout_seconds: 'soon' }),
      memory: await create({ name: 'two', resources: { memory: 'much' } }),
      mode: await create({ name: 'two', permission_mode: 'bypassPermissions' }),
    };
    expect(Object.fromEntries(Object.entries(answers).map(([k, a]) => [k, [a.status, a.body.error.code]]))).toEqual({
      duplicate: [409, 'duplicate'],
      credential: [422, 'credential_in_env'],
      workspace: [422, 'workspace_missing'],
      number: [422, 'invalid'],
      text: [422, 'invalid'],
      memory: [422, 'invalid'],
      mode: [422, 'invalid'],
    });
    expect(answers.number.body.detail).toContain('max_parallel_tasks');
    expect(answers.credential.text).not.toContain('sk-ant-hidden');
    expect((await fleet.api('GET', '/api/agents')).body).toHaveLength(1);
  });

  it('are changed field by field; the rest stays, null goes back to the default', async () => {
    await create({ name: 'one', model: 'm1', env: { A: '1' }, timeout_seconds: 60 });
    const changed = await fleet.api('PUT', '/api/agents/one', { model: 'm2', timeout_seconds: null });
    expect(changed.body).toMatchObject({
      model: 'm2',
      env: { A: '1' },
      adapter: 'command',
      limits: { timeout_seconds: { value: null, effective: 3600 } },
    });
    expect((await fleet.api('PUT', '/api/agents/one', { pool: ' p ' })).body.pool).toBe('p');
    expect((await fleet.api('PUT', '/api/agents/one', { pool: '' })).body.pool).toBeNull();
    expect((await fleet.api('PUT', '/api/agents/one', { env: { OPENAI_API_KEY: 'x' } })).status).toBe(422);
    expect((await fleet.api('GET', '/api/agents/one')).body.env).toEqual({ A: '1' });
  });

  it('start and stop as often as asked, with an empty JSON body too', async () => {
    await create({ name: 'one' });
    const json = { 'content-type': 'application/json' };
    for (const [verb, status] of [
      ['stop', 'stopped'],
      ['stop', 'stopped'],
      ['start', 'running'],
      ['start', 'running'],
    ]) {
      const answer = await fleet.api('POST', `/api/agents/one/${verb}`, undefined, json);
      expect([answer.status, typeof answer.body.message]).toEqual([200, 'string']);
      expect((await fleet.api('GET', '/api/agents/one')).body.status).toBe(status);
    }
  });

  it(verifies('R16')('let running work end at a stop, and end it only by force'), async () => {
    await create({ name: 'one' });
    const { body } = await fleet.api('POST', '/api/agents/one/task', { message: 'go', async_mode: true });
    const [work] = await fleet.runner.claim();
    await fleet.runner.begin(work!);
    expect((await fleet.api('POST', '/api/agents/one/stop')).body.stopping).toBe(0);
    expect((await fleet.row(body.execution_id)).status).toBe('running');
    expect((await fleet.runner.renew([work!])).results).toMatchObject([{ state: 'ok' }]);
    expect((await fleet.api('POST', '/api/agents/one/stop?force=true')).body.stopping).toBe(1);
    expect((await fleet.runner.renew([work!])).results).toMatchObject([{ state: 'stop', reason: 'cancel' }]);
    await fleet.runner.finish(work!);
  });

  it(verifies('D36')('that are deleted are gone, and one of the same name inherits nothing'), async () => {
    await create({ name: 'one', max_parallel_tasks: 7, model: 'm' });
    await fleet.api('POST', '/api/agents/one/task', { message: 'go', async_mode: true });
    const gone = await fleet.api('DELETE', '/api/agents/one');
    expect(gone).toMatchObject({ status: 200, body: { cancelled: 1 } });
    expect((await fleet.api('GET', '/api/agents/one')).status).toBe(404);
    expect((await fleet.api('DELETE', '/api/agents/one')).status).toBe(404);
    expect((await create({ name: 'one' })).body).toMatchObject({ model: null, max_parallel_tasks: 3 });
    expect((await fleet.api('GET', '/api/agents/one/executions')).body).toEqual([]);
  });

  it('tell their capacity, timeout and model, and take new ones within the bounds', async () => {
    await create({ name: 'one' });
    expect((await fleet.api('GET', '/api/agents/one/capacity')).body).toMatchObject({
      max_parallel_tasks: 3,
      is_default: true,
      effective_max_parallel_tasks: 3,
      ceiling: 100,
      active_slots: 0,
      available_slots: 3,
      slots: [],
    });
    expect((await fleet.api('GET', '/api/agents/one/timeout')).body).toMatchObject({
      execution_timeout_seconds: 3600,
      execution_timeout_minutes: 60,
      is_default: true,
    });
    await fleet.api('POST', '/api/agents/one/task', { message: 'go', async_mode: true });
    const [work] = await fleet.runner.claim();
    await fleet.runner.begin(work!);
    await fleet.clock.advance(7_000);
    expect((await fleet.api('GET', '/api/agents/one/capacity')).body).toMatchObject({
      active_slots: 1,
      available_slots: 2,
      slots: [{ slot_number: 1, execution_id: work!.execution_id, message_preview: 'go' }],
    });
    expect((await fleet.api('GET', '/api/agents/one/executions/running')).body).toMatchObject({
      count: 1,
      executions: [{ execution_id: work!.execution_id, status: 'running', metadata: { message: 'go' } }],
    });
    await fleet.runner.finish(work!);
    expect((await fleet.api('GET', '/api/agents/one/executions/running')).body.executions).toEqual([]);
    expect((await fleet.api('PUT', '/api/agents/one/capacity', { max_parallel_tasks: 5 })).body).toMatchObject({
      max_parallel_tasks: 5,
      is_default: false,
      effective: 5,
    });
    for (const max_parallel_tasks of [0, -1, 101, 1.5, '5'])
      expect((await fleet.api('PUT', '/api/agents/one/capacity', { max_parallel_tasks })).status).toBe(422);
    expect((await fleet.api('PUT', '/api/agents/one/timeout', { execution_timeout_seconds: 120 })).body).toMatchObject({
      execution_timeout_seconds: 120,
      effective: 120,
      ceiling: 86_400,
    });
    expect((await fleet.api('PUT', '/api/agents/one/timeout', { execution_timeout_seconds: 9 })).status).toBe(422);
    expect((await fleet.api('PUT', '/api/agents/one/model', { model: 'sonnet' })).body).toEqual({
      agent_name: 'one',
      model: 'sonnet',
    });
    expect((await fleet.api('PUT', '/api/agents/one/model', { model: '--evil' })).status).toBe(422);
    expect((await fleet.api('GET', '/api/agents/one/capacity')).body.max_parallel_tasks).toBe(5);
  });

  it('show the last lines of their runs, newest last', async () => {
    await create({ name: 'one' });
    expect((await fleet.api('GET', '/api/agents/one/logs')).body).toEqual({ agent_name: 'one', logs: '' });
    for (const word of ['first', 'second']) {
      await fleet.api('POST', '/api/agents/one/task', { message: 'go', async_mode: true });
      const [work] = await fleet.runner.claim();
      await fleet.runner.begin(work!);
      await fleet.runner.log(work!, [output(`${word} 1`), output(`${word} 2`)]);
      await fleet.runner.finish(work!);
    }
    const logs = async (tail: number) =>
      ((await fleet.api('GET', `/api/agents/one/logs?tail=${tail}`)).body.logs as string)
        .split('\n')
        .map((l) => l.split(' ').slice(-2).join(' '));
    expect(await logs(10)).toEqual(['first 1', 'first 2', 'second 1', 'second 2']);
    expect(await logs(3)).toEqual(['first 2', 'second 1', 'second 2']);
    expect((await fleet.api('GET', '/api/agents/one/info')).body).toMatchObject({
      agent_name: 'one',
      last_execution: { status: 'success', cause: 'success' },
    });
  });
});

describe('the files of an agent', () => {
  it('are a tree and downloads of its workspace; outside is a 404', async () => {
    const workspace = join(fleet.deps.config.home, 'workspaces', 'ws');
    mkdirSync(join(workspace, 'src'), { recursive: true });
    writeFileSync(join(workspace, 'src', 'ünï "q".txt'), 'hello');
    writeFileSync(join(workspace, 'empty'), '');
    await create({ name: 'one', workspace });
    const tree = await fleet.api('GET', '/api/agents/one/files');
    expect(tree.body).toMatchObject({ agent_name: 'one', tree: [{ name: 'empty', size: 0 }, { name: 'src' }] });
    const path = encodeURIComponent('src/ünï "q".txt');
    const got = await fleet.api('GET', `/api/agents/one/files/download?path=${path}`);
    expect([got.status, got.text, got.headers['content-type']]).toEqual([200, 'hello', 'application/octet-stream']);
    expect(got.headers['content-disposition']).toContain(`filename*=UTF-8''${encodeURIComponent('ünï "q".txt')}`);
    expect(await fleet.api('GET', '/api/agents/one/files/download?path=empty')).toMatchObject({
      status: 200,
      text: '',
    });
    for (const bad of ['../../owner.token', '/etc/passwd', 'src', 'nope', '..%2f..%2fowner.token'])
      expect([bad, (await fleet.api('GET', `/api/agents/one/files/download?path=${bad}`)).status]).toEqual([bad, 404]);
    expect((await fleet.api('GET', '/api/agents/one/files?path=..')).status).toBe(404);
    rmSync(workspace, { recursive: true });
  });

  it('are none before the first run of an agent that was given no workspace', async () => {
    await create({ name: 'one' });
    expect((await fleet.api('GET', '/api/agents/one/files')).body).toMatchObject({ tree: [], truncated: false });
  });
});
