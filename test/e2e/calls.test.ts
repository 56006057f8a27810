/** Agents that call agents, with the real Claude Code CLI: its own MCP client, the line by its runner, and every cap at 1. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ModelApi, startModelApi } from '../model-api/server.ts';
import { claudeBin, type Installation, install } from '../support/installation.ts';
import { verifies } from '../support/verifies.ts';

let drover: Installation;
let provider: ModelApi;
/** The end of a call that takes 45 s, in a fleet of its own: begun before all others, looked at last. */
let patient: Promise<Record<string, unknown>>;
let patientFleet: Installation | undefined;

const agent = async (name: string, more: Record<string, unknown> = {}, fleet = drover) => {
  const r = await fleet.api('POST', '/api/agents', {
    name,
    executable: claudeBin,
    model: 'claude-sonnet-4-5',
    max_parallel_tasks: 1,
    env: { ANTHROPIC_BASE_URL: provider.url },
    ...more,
  });
  expect(r.status, JSON.stringify(r.body)).toBe(201);
};
const start = async (name: string, message: string, more: Record<string, unknown> = {}): Promise<string> =>
  (await drover.api('POST', `/api/agents/${name}/task`, { message, async_mode: true, ...more })).body.execution_id;
const beginPatientCall = async (): Promise<Record<string, unknown>> => {
  const fleet = await install();
  patientFleet = fleet;
  await fleet.api('POST', '/api/subscriptions', { name: 'key', kind: 'anthropic_api_key', token: 'sk-ant-planted' });
  // Ours is switched off; settings of the workspace come after it. The CLI looks every 30 s, so 45 s are enough to be seen.
  const workspace = join(fleet.home, 'hasty');
  mkdirSync(join(workspace, '.claude'), { recursive: true });
  writeFileSync(
    join(workspace, '.claude', 'settings.json'),
    JSON.stringify({ env: { CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT: '15000' } }),
  );
  await agent('b', {}, fleet);
  await agent('hasty', { workspace }, fleet);
  const { body } = await fleet.api('POST', '/api/agents/hasty/task', {
    message: call('b', 'Slowly. [[mode:slow text="late but whole" pieces=9 ms=5000]]'),
    async_mode: true,
    timeout_seconds: 120,
  });
  return fleet.ended(body.execution_id);
};
const row = async (id: string) => (await drover.api('GET', `/api/executions/${id}`)).body;
const chain = async (id: string) => (await drover.api('GET', `/api/executions/${id}/chain`)).body;
const fleetLimit = (n: number) => drover.api('PUT', '/api/fleet/limits', { agent_call_limit: n });

/** `call('b', call('c', 'ok'))`: say that to an agent, and it calls b, which calls c. */
const call = (to: string, message: string, more = ''): string =>
  `Go. [[mode:mcp tool=mcp__drover__chat_with_agent agent=${to} ${more} message="${message.replace(/[\\"]/g, '\\$&')}"]]`;
const say = (text: string): string => `Say it. [[mode:ok text="${text}"]]`;

beforeAll(async () => {
  provider = await startModelApi();
  patient = beginPatientCall();
  // What is wrong with it is said by the test that looks at it.
  patient.catch(() => {});
  drover = await install({ DROVER_MAX_CALL_DEPTH: '3', DROVER_RUNNER_SLOTS: '12' });
  await drover.api('POST', '/api/subscriptions', { name: 'key', kind: 'anthropic_api_key', token: 'sk-ant-planted' });
  for (const name of ['a', 'b', 'c']) await agent(name);
});
afterAll(async () => {
  await drover?.end();
  await patientFleet?.end();
  await provider?.close();
});
beforeEach(() => fleetLimit(8));

describe('chains', () => {
  it(verifies('D11', 'R17', 'R21')('three hops and a cycle complete with every cap 1 and the fleet at 1'), async () => {
    await fleetLimit(1);
    const id = await start('a', call('b', call('c', call('a', say('from the depth')))));
    const seen = new Set<number>();
    await drover.until(
      'it ends',
      async () => {
        const { fleet } = (await drover.api('GET', '/api/fleet/limits')).body;
        seen.add(fleet?.running ?? 0);
        return row(id);
      },
      (e) => ['success', 'failed', 'cancelled'].includes(e.status),
    );
    const top = await row(id);
    expect(top, JSON.stringify(top)).toMatchObject({ status: 'success', cause: 'success', attention: [] });
    expect(top.response).toContain('from the depth');
    const { executions, cost } = await chain(id);
    expect(executions.map((e: { agent_name: string; status: string }) => [e.agent_name, e.status])).toEqual([
      ['a', 'success'],
      ['b', 'success'],
      ['c', 'success'],
      ['a', 'success'],
    ]);
    expect(cost).toBeGreaterThan(0);
    expect(Math.max(...seen)).toBeLessThanOrEqual(1);
  });

  it(verifies('D11', 'R18')('two that cross each other complete with every cap 1'), async () => {
    await fleetLimit(2);
    const [x, y] = await Promise.all([start('a', call('b', say('one'))), start('b', call('a', say('two')))]);
    const [one, two] = [await drover.ended(x), await drover.ended(y)];
    expect([one.status, two.status]).toEqual(['success', 'success']);
    expect([one.response, two.response].join()).toMatch(/"one".*"two"/s);
  });

  it(verifies('D12', 'R21')('an agent calls itself ten times side by side with cap 3 while it waits'), async () => {
    await agent('self', { max_parallel_tasks: 3 });
    const id = await start('self', call('self', say('again'), 'parallel=true times=10'), { timeout_seconds: 300 });
    let most = 0;
    await drover.until(
      'it ends',
      async () => {
        const all = (await drover.api('GET', '/api/executions?agent=self&status=running&limit=50')).body.executions;
        most = Math.max(most, all.length);
        return row(id);
      },
      (e) => ['success', 'failed', 'cancelled'].includes(e.status),
    );
    const top = await row(id);
    expect(top, JSON.stringify(top)).toMatchObject({ status: 'success', tool_calls: 10 });
    expect(top.response.match(/again/g)).toHaveLength(10);
    expect((await chain(id)).children).toHaveLength(10);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(3);
  });

  it(verifies('D13', 'R20')('an agent reads that it is too deep, and goes on'), async () => {
    const id = await start('a', call('b', call('c', call('a', call('b', say('never said'))))));
    const e = await drover.ended(id);
    expect(e.status).toBe('success');
    expect(e.response).toContain('inter_agent_depth_exceeded');
    expect(e.response).toContain('at most 3 is allowed');
    expect((await chain(id)).executions).toHaveLength(4);
  });
});

describe('calls that are disturbed', () => {
  const waiting = (id: string) =>
    drover.until(
      `${id} waits and its child runs`,
      async () => [await row(id), await chain(id)] as const,
      ([e, c]) => e.status === 'waiting' && c.executions.length > 1 && c.executions[1].started_at !== null,
    );

  it(verifies('D13', 'R20', 'R25')('the parent is cancelled in mid-call: both end, cancelled'), async () => {
    const id = await start('a', call('b', 'Go. [[mode:hang]]'));
    const [, { executions }] = await waiting(id);
    await drover.api('POST', `/api/executions/${id}/terminate`, {});
    expect(await drover.ended(id)).toMatchObject({ status: 'cancelled' });
    expect(await drover.ended(executions[1].id)).toMatchObject({ status: 'cancelled' });
    expect(drover.pids('drover-calls')).toEqual([]);
  });

  it(verifies('R2', 'R21')('the server is killed and started again in mid-call: the call is answered'), async () => {
    const id = await start('a', call('b', 'Slowly. [[mode:slow text="after the restart" pieces=20 ms=400]]'));
    const [, { executions }] = await waiting(id);
    await drover.killServer();
    await drover.start();
    const e = await drover.ended(id);
    expect(e, JSON.stringify(e)).toMatchObject({ status: 'success', attempt: 1 });
    expect(e.response).toContain('after the restart');
    expect((await chain(id)).executions.map((x: { id: string }) => x.id)).toEqual([id, executions[1].id]);
  });

  it(verifies('R2', 'R21')('the runner is killed in mid-call: the next one answers it'), async () => {
    const id = await start('a', call('b', 'Slowly. [[mode:slow text="by the next runner" pieces=20 ms=200]]'));
    const [, { executions }] = await waiting(id);
    const [runner] = drover.pids('/runner.js');
    process.kill(runner!, 'SIGKILL');
    const e = await drover.ended(id);
    expect(e, JSON.stringify(e)).toMatchObject({ status: 'success', attempt: 1, attention: [] });
    expect(e.response).toContain('by the next runner');
    expect((await chain(id)).executions.map((x: { id: string }) => x.id)).toEqual([id, executions[1].id]);
  });

  it(
    verifies('R21', 'R31')('the CLI is killed in mid-call: its own shells are not called work it left behind'),
    async () => {
      const id = await start('a', call('b', 'Go. [[mode:hang]]'));
      const [, { executions }] = await waiting(id);
      const ofCaller = (pid: number) =>
        readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`DROVER_EXECUTION_ID=${id}`);
      process.kill(drover.pids('stream-json').find(ofCaller)!, 'SIGKILL');
      expect(await drover.ended(id)).toMatchObject({ status: 'failed', cause: 'killed_unknown', attention: [] });
      expect(await drover.ended(executions[1].id)).toMatchObject({ status: 'cancelled' });
      expect(drover.pids('drover-calls')).toEqual([]);
    },
  );
});

describe('a person is asked', () => {
  it(verifies('R42')('the caller reads that it need not wait; the answer goes on in its session'), async () => {
    const ask = `Go. [[mode:mcp tool=mcp__drover__ask_operator kind=approval title="May I deploy?" details="It is Friday."]]`;
    const { body, headers } = await drover.api('POST', '/api/agents/a/chat', { message: ask });
    const told = JSON.parse(/told: (\{.*\})/s.exec(body.response)![1]!);
    expect(told).toMatchObject({ kind: 'approval', title: 'May I deploy?', status: 'open', answer: null });
    expect(told.execution_id).toBe(headers.get('x-execution-id'));
    const answer = { answer: 'approve', note: 'Carefully. [[mode:memory]]' };
    expect((await drover.api('POST', `/api/operator-queue/${told.id}/respond`, answer)).status).toBe(200);
    const item = await drover.until(
      'the answer has become a turn',
      async () => (await drover.api('GET', `/api/operator-queue/${told.id}`)).body,
      (i) => i.answer_execution_id !== null,
    );
    expect(item).toMatchObject({ status: 'answered', answer: 'approve', delivery: 'resumed' });
    const turn = await drover.ended(item.answer_execution_id);
    // The CLI was shown the question's turn and this one: the conversation goes on.
    expect(turn, JSON.stringify(turn)).toMatchObject({ status: 'success', response: 'I was shown 2 turns.' });
    expect(turn.session_id).toBe((await row(told.execution_id)).session_id);
    expect(turn.message).toContain('has approved');
  });
});

describe('what a caller may not do', () => {
  it(verifies('R20')('a missing agent, a stopped one, no permission: each is a refusal it can read'), async () => {
    await agent('away');
    await drover.api('POST', '/api/agents/away/stop');
    await agent('lone');
    await drover.api('PUT', '/api/agents/lone/permissions', { permitted_agents: [] });
    const told = async (who: string, to: string) =>
      (await drover.ended(await start(who, call(to, say('never'))))).response as string;
    expect(await told('a', 'nobody')).toContain('not_found');
    expect(await told('a', 'away')).toContain('agent_stopped');
    expect(await told('lone', 'a')).toContain('call_not_permitted');
  });
});

describe('a call that is silent', () => {
  it(verifies('D14', 'R21')('for longer than the CLI’s idle limit survives'), async () => {
    const e = await patient;
    expect(e, JSON.stringify(e)).toMatchObject({ status: 'success' });
    expect(e.response).toContain('late but whole');
  });
});
