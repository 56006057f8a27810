import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { executionBearer } from '../../src/contract/principal.ts';
import { commit } from '../../src/record/commit.ts';
import { type Answer, event, type Fleet, openFleet } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet();
  await fleet.agent('writer');
  await fleet.agent('reader');
});
afterEach(() => fleet.end());

type Body = Answer['body'];
const get = async (url: string): Promise<Body> => {
  const answer = await fleet.api('GET', url);
  expect(answer.status).toBe(200);
  return answer.body;
};
const submit = async (agent = 'writer', body: object = {}): Promise<string> =>
  (await fleet.api('POST', `/api/agents/${agent}/task`, { message: 'x', async_mode: true, ...body })).body.execution_id;
const chat = async (message: string, response: string): Promise<Body> => {
  const asked = fleet.api('POST', '/api/agents/writer/chat', { message });
  await fleet.runner.run((await fleet.runner.claim())[0]!, response);
  return (await asked).body;
};
const toolUse = (id: string, name: string) =>
  event(
    { type: 'assistant', message: { content: [{ type: 'tool_use', id, name, input: { command: 'ls' } }] } },
    fleet.clock.now(),
  );
const toolResult = (id: string) =>
  event(
    { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: id, content: 'a.txt' }] } },
    fleet.clock.now(),
  );

describe('executions', () => {
  it('are a bare array under their agent, newest first, and only its own', async () => {
    const ids = [await submit(), await submit(), await submit()];
    await submit('reader');
    const list = await get('/api/agents/writer/executions');
    expect(list.map((e: Body) => e.id)).toEqual(ids.toReversed());
    expect((await get('/api/agents/writer/executions?limit=2')).map((e: Body) => e.id)).toEqual([ids[2], ids[1]]);
    expect(await get('/api/agents/writer/executions?limit=99999')).toHaveLength(3);
    expect((await fleet.api('GET', '/api/agents/writer/executions?limit=0')).status).toBe(422);
  });

  it(verifies('R48')('are read page by page without a row missed or repeated'), async () => {
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) ids.push(await submit(i % 2 === 0 ? 'writer' : 'reader'));
    const seen: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const page: Body = await get(`/api/executions?limit=3${after === '' ? '' : `&after=${after}`}`);
      seen.push(...page.executions.map((e: Body) => e.id));
      after = page.next;
      // A row that comes in between does not shift the pages.
      if (seen.length === 3) await submit();
    }
    expect(seen).toEqual(ids.toReversed());
    const filtered = await get('/api/executions?agent=reader&status=queued,running');
    expect(filtered.executions.map((e: Body) => e.agent_name)).toEqual(['reader', 'reader', 'reader']);
    expect((await get('/api/executions?status=failed')).executions).toEqual([]);
    expect((await fleet.api('GET', '/api/executions?status=sleeping')).status).toBe(422);
  });

  it('show an ended row with its verdict, its attempt and the facts behind it', async () => {
    const id = await submit();
    const [work] = await fleet.runner.claim();
    await fleet.runner.begin(work!);
    await fleet.runner.finish(work!, { exit_code: 3 });
    for (const url of [`/api/executions/${id}`, `/api/agents/writer/executions/${id}`])
      expect(await get(url)).toMatchObject({
        id,
        agent_name: 'writer',
        status: 'failed',
        message: 'x',
        triggered_by: 'api',
        error: expect.stringMatching(/./),
        verdict: { cause: expect.any(String), confidence: expect.any(String) },
        secondary: expect.any(Array),
        attention: expect.any(Array),
        completed_at: expect.stringMatching(/Z$/),
        attempts: [
          { number: 1, exit_code: 3, signal: null, host: 'test-host', decision: { kind: 'end', status: 'failed' } },
        ],
        wait: null,
      });
  });

  it(
    verifies('R44')('are not found under another agent, nor by an agent of another owner, as if they did not exist'),
    async () => {
      const id = await submit();
      const gone = await fleet.api('GET', '/api/executions/nothing');
      const elsewhere = await fleet.api('GET', `/api/agents/reader/executions/${id}`);
      expect([gone.status, elsewhere.status]).toEqual([404, 404]);
      expect(elsewhere.body).toEqual(gone.body);

      await fleet.agent('stranger', { owner_id: 'somebody' });
      await submit('stranger');
      const work = (await fleet.runner.claim()).find((w) => w.agent.name === 'stranger')!;
      await fleet.runner.begin(work);
      const asAgent = { authorization: `Bearer ${executionBearer(work.execution_id, work.token)}` };
      expect((await fleet.api('GET', `/api/executions/${work.execution_id}`, undefined, asAgent)).status).toBe(200);
      expect((await fleet.api('GET', `/api/executions/${id}`, undefined, asAgent)).status).toBe(404);
      expect((await fleet.api('GET', '/api/executions', undefined, asAgent)).status).toBe(403);
      expect((await fleet.api('POST', `/api/executions/${id}/terminate`, {}, asAgent)).status).toBe(404);
    },
  );

  it('explain why they wait, from the limit that binds', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) ids.push(await submit());
    await fleet.runner.claim();
    expect(await get(`/api/executions/${ids[3]}/why`)).toMatchObject({
      execution_id: ids[3],
      status: 'queued',
      final: false,
      wait: { reason: 'agent_cap', position: 1, lanes_ahead: 0, since: expect.stringMatching(/Z$/) },
      attempts: [],
    });
  });

  it('explain an ending by the decision of each attempt', async () => {
    const id = await submit();
    const [work] = await fleet.runner.claim();
    await fleet.runner.begin(work!);
    await fleet.runner.finish(work!, { exit_code: null, signal: 'SIGSEGV' });
    const why = await get(`/api/agents/writer/executions/${id}/why`);
    expect(why).toMatchObject({ final: true, cause: 'crashed', title: 'Crashed', status: 'failed' });
    expect(why.attempts).toMatchObject([{ number: 1, cause: 'crashed', signal: 'SIGSEGV', decision: { kind: 'end' } }]);
    expect(why.attempts[0].evidence.length).toBeGreaterThan(0);
  });

  it('are counted by status and cause', async () => {
    await chat('a', 'b');
    await submit();
    expect(await get('/api/executions/stats')).toMatchObject({
      total: 2,
      by_status: { success: 1, queued: 1 },
      by_cause: { success: 1 },
    });
  });

  it('are stopped with three different answers, by the right agent’s path alone, and it is noted who did', async () => {
    const [a, b] = [await submit(), await submit()];
    const [work] = await fleet.runner.claim(1);
    await fleet.runner.begin(work!);
    const stop = (agent: string, id: string) => fleet.api('POST', `/api/agents/${agent}/executions/${id}/terminate`);
    expect((await stop('reader', a)).status).toBe(404);
    expect((await stop('writer', b)).body).toMatchObject({ status: 'cancelled_while_queued', execution_id: b });
    expect((await stop('writer', a)).body).toMatchObject({ status: 'terminated' });
    expect((await fleet.row(a)).phase).toBe('stopping');
    await fleet.runner.finish(work!, { stop: { reason: 'cancel', at: fleet.clock.now(), detail: null } });
    expect((await stop('writer', a)).body).toMatchObject({ status: 'already_finished' });
    const log = await fleet.deps.store.read('audit_log', { limit: 10, before: null });
    expect(log.filter((l) => l.action === 'execution.cancel').map((l) => l.target)).toEqual([a, b]);
  });

  it('of an agent that was deleted and made again are not inherited by the new one', async () => {
    const id = await submit();
    const old = (await fleet.deps.store.read('agent_by_name', { name: 'writer' }))!;
    await commit(fleet.deps, 'delete_agent', { id: old.id, by: 'test' });
    await fleet.agent('writer');
    expect(await get('/api/agents/writer/executions')).toEqual([]);
    expect((await fleet.api('GET', `/api/agents/writer/executions/${id}`)).status).toBe(404);
    expect((await get(`/api/executions/${id}`)).status).toBe('cancelled');
    expect(await get('/api/agents/writer/chat/history')).toEqual([]);
  });
});

describe('the queue of an agent', () => {
  it(verifies('R11')('shows what runs and what waits, each with reason and position'), async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await submit());
    await fleet.runner.claim();
    const queue = await get('/api/agents/writer/queue');
    expect(queue).toMatchObject({ agent_name: 'writer', is_busy: true, queue_length: 2 });
    expect(queue.current_execution.id).toBe(ids[0]);
    expect(queue.queued_executions.map((e: Body) => [e.id, e.wait.position])).toEqual([
      [ids[3], 1],
      [ids[4], 2],
    ]);
    expect(await get('/api/agents/reader/queue')).toMatchObject({
      is_busy: false,
      current_execution: null,
      queue_length: 0,
      queued_executions: [],
    });
  });

  it('is cleared without touching what runs, and there is nothing to release', async () => {
    for (let i = 0; i < 5; i++) await submit();
    const running = await fleet.runner.claim();
    const cleared = await fleet.api('POST', '/api/agents/writer/queue/clear', undefined, {
      'content-type': 'application/json',
    });
    expect(cleared.body).toMatchObject({ status: 'cleared', cleared_count: 2 });
    expect((await fleet.api('POST', '/api/agents/writer/queue/release')).body.was_running).toBe(true);
    expect((await get('/api/agents/writer/queue')).running_executions).toHaveLength(3);
    expect((await fleet.row(running[0]!.execution_id)).status).toBe('running');
    expect((await fleet.api('POST', '/api/agents/reader/queue/release')).body.was_running).toBe(false);
  });
});

describe('chats', () => {
  it('are the open conversation until it is cleared, and kept after it', async () => {
    const first = await chat('hello', 'hi');
    await chat('how are you', 'well');
    await submit('writer', { message: 'a task is no chat' });
    const history = await get('/api/agents/writer/chat/history');
    expect(history.map((m: Body) => [m.role, m.content])).toEqual([
      ['user', 'hello'],
      ['assistant', 'hi'],
      ['user', 'how are you'],
      ['assistant', 'well'],
    ]);
    expect(Date.parse(history[0].timestamp)).not.toBeNaN();
    expect(await get('/api/agents/writer/chat/session')).toMatchObject({
      session_id: first.session_id,
      message_count: 4,
    });

    expect((await fleet.api('DELETE', '/api/agents/writer/chat/history')).status).toBe(200);
    expect(await get('/api/agents/writer/chat/history')).toEqual([]);
    expect(await get('/api/agents/writer/chat/history/persistent')).toMatchObject({
      agent_name: 'writer',
      message_count: 4,
    });
  });

  it('start afresh after a clear', async () => {
    const before = await chat('hello', 'hi');
    await fleet.api('DELETE', '/api/agents/writer/chat/history');
    await fleet.runner.finish(
      await (async () => {
        const asked = fleet.api('POST', '/api/agents/writer/chat', { message: 'again' });
        const [work] = await fleet.runner.claim();
        expect(work!.cli_session_id).toBeNull();
        await fleet.runner.begin(work!);
        void asked;
        return work!;
      })(),
    );
    const history = await get('/api/agents/writer/chat/history');
    expect(history.map((m: Body) => m.content)).toEqual(['again', 'done']);
    expect(history[0].session_id).not.toBe(before.session_id);
    const { sessions, session_count } = await get('/api/agents/writer/chat/sessions');
    expect(session_count).toBe(sessions.length);
    expect(sessions.map((s: Body) => s.session_id)).toContain(history[0].session_id);
  });
});

describe('activities', () => {
  it('are the executions as a timeline, and their tool calls when asked for', async () => {
    await chat('hello', 'hi');
    const id = await submit();
    const [work] = await fleet.runner.claim();
    await fleet.runner.begin(work!);
    await fleet.runner.log(work!, [toolUse('t1', 'Bash'), toolResult('t1'), toolUse('t2', 'Read')]);

    const { agent_name, count, activities } = await get('/api/agents/writer/activities');
    expect([agent_name, count]).toEqual(['writer', 2]);
    expect(activities).toMatchObject([
      { id, activity_type: 'task_start', activity_state: 'started', triggered_by: 'api', agent_name: 'writer' },
      { activity_type: 'chat_start', activity_state: 'completed' },
    ]);
    const tools = (await get('/api/agents/writer/activities?activity_type=tool_call')).activities;
    expect(new Set(tools.map((t: Body) => [t.details.tool_name, t.activity_state].join(' ')))).toEqual(
      new Set(['Bash completed', 'Read started']),
    );
    const all = await get('/api/activities/timeline?activity_state=completed&limit=10');
    expect(all).toMatchObject({ count: 1, activities: [{ activity_type: 'chat_start' }] });
  });

  it('show live what an agent does, and forget it when told to, but not the record', async () => {
    expect(await get('/api/agents/writer/activity')).toMatchObject({
      status: 'idle',
      active_tool: null,
      tool_counts: {},
    });
    const id = await submit();
    const [work] = await fleet.runner.claim();
    await fleet.runner.begin(work!);
    await fleet.runner.log(work!, [toolUse('t1', 'Bash'), toolResult('t1'), toolUse('t2', 'Bash')]);
    expect(await get('/api/agents/writer/activity')).toMatchObject({
      status: 'running',
      active_tool: { id: 't2', name: 'Bash' },
      tool_counts: { Bash: 2 },
      running_executions: [id],
    });
    expect((await fleet.row(id)).active_tool).toBe('Bash');
    expect(await get('/api/agents/writer/activity/t1')).toMatchObject({ tool: 'Bash', success: true, output: 'a.txt' });
    expect((await fleet.api('GET', '/api/agents/writer/activity/t9')).status).toBe(404);
    await fleet.clock.advance(1);
    expect((await fleet.api('DELETE', '/api/agents/writer/activity')).status).toBe(200);
    expect(await get('/api/agents/writer/activity')).toMatchObject({ tool_counts: {}, timeline: [] });
    expect((await get(`/api/executions/${id}/log`)).log).toHaveLength(3);
  });
});
