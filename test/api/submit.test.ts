import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { event, type Fleet, openFleet, output } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet();
  await fleet.agent('writer');
});
afterEach(() => fleet.end());

const rows = async () => (await fleet.api('GET', '/api/executions?limit=200')).body.executions as { id: string }[];

describe('a synchronous call', () => {
  it(verifies('R4')('answers with the agent’s words when its row has ended'), async () => {
    const asked = fleet.api('POST', '/api/agents/writer/chat', { message: 'hello' });
    const [work] = await fleet.runner.claim();
    expect(work).toMatchObject({ kind: 'chat', message: 'hello', number: 1, agent: { name: 'writer' } });
    await fleet.runner.begin(work!);
    await fleet.runner.log(work!, [output('thinking'), event({ type: 'assistant' })]);
    expect(await fleet.runner.finish(work!, { stream: { response: 'hi there' } })).toBe('settled');

    const answer = await asked;
    expect(answer.status).toBe(200);
    expect(answer.headers['x-execution-id']).toBe(work!.execution_id);
    expect(answer.body).toMatchObject({
      response: 'hi there',
      session_id: expect.any(String),
      task_execution_id: work!.execution_id,
      execution: { id: work!.execution_id, queue_status: 'running' },
      execution_log: [{ type: 'output', text: 'thinking' }, { type: 'assistant' }],
    });
    expect(Date.parse(answer.body.timestamp)).not.toBeNaN();
  });

  it('goes on in the same session when asked to, and a task has a fresh one each time', async () => {
    const say = async (kind: string, body: object) => {
      const asked = fleet.api('POST', `/api/agents/writer/${kind}`, { message: 'x', ...body });
      await fleet.runner.run((await fleet.runner.claim())[0]!);
      return (await asked).body;
    };
    const first = await say('chat', {});
    const second = await say('chat', { session: first.session_id });
    const third = await say('chat', {});
    expect(second.session_id).toBe(first.session_id);
    expect(third.session_id).toBe(first.session_id);
    const [a, b] = [await say('task', {}), await say('task', {})];
    expect(new Set([first.session_id, a.session_id, b.session_id]).size).toBe(3);
  });

  it(verifies('R37')('answers a killed run with 504, its cause, its text and its id'), async () => {
    const asked = fleet.api('POST', '/api/agents/writer/task', { message: 'x' });
    const [work] = await fleet.runner.claim();
    await fleet.runner.begin(work!);
    await fleet.runner.finish(work!, { exit_code: null, signal: 'SIGKILL' });
    const answer = await asked;
    expect(answer.status).toBe(504);
    expect(answer.headers).toMatchObject({
      'x-execution-id': work!.execution_id,
      'x-drover-error-code': 'killed_unknown',
      'x-trinity-error-code': 'agent_error',
    });
    expect(answer.body.detail).toMatch(/^Execution terminated by SIGKILL after 0 tool calls/);
    expect(answer.body.error).toMatchObject({ code: 'killed_unknown', message: answer.body.detail });
    expect((await fleet.row(work!.execution_id)).error).toBe(answer.body.detail);
  });

  it('gives the id after the time the client prefers to wait, and the work goes on', async () => {
    const asked = fleet.api('POST', '/api/agents/writer/task', { message: 'x' }, { prefer: 'respond-async, wait=5' });
    const [work] = await fleet.runner.claim();
    await fleet.runner.begin(work!);
    let done = false;
    void asked.then(() => {
      done = true;
    });
    await fleet.clock.advance(4_999);
    expect(done).toBe(false);
    await fleet.clock.advance(1);
    const answer = await asked;
    expect(answer.status).toBe(202);
    expect(answer.headers).toMatchObject({ 'preference-applied': 'wait=5', 'x-execution-id': work!.execution_id });
    expect(answer.body).toMatchObject({ execution_id: work!.execution_id, agent_name: 'writer' });
    expect(await fleet.runner.finish(work!)).toBe('settled');
    expect((await fleet.row(work!.execution_id)).status).toBe('success');
  });
});

describe('an asynchronous task', () => {
  it('is answered with its id before anything runs', async () => {
    const answer = await fleet.api('POST', '/api/agents/writer/task', {
      message: 'x',
      async_mode: true,
      priority: 'batch',
    });
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({
      status: 'accepted',
      execution_id: answer.headers['x-execution-id'],
      agent_name: 'writer',
      message: 'x',
      async_mode: true,
    });
    expect(await fleet.row(answer.body.execution_id)).toMatchObject({ status: 'queued', class: 'batch', attempts: [] });
  });

  it('carries its options to the runner', async () => {
    await fleet.api('POST', '/api/agents/writer/task', {
      message: 'x',
      async_mode: true,
      model: 'm1',
      allowed_tools: ['Read'],
      system_prompt: 'be brief',
      max_turns: 3,
      timeout_seconds: 77,
      resume_session_id: 'cli-7',
    });
    const [work] = await fleet.runner.claim();
    expect(work).toMatchObject({
      options: { model: 'm1', allowed_tools: ['Read'], system_prompt: 'be brief', max_turns: 3 },
      timeout_s: 77,
      cli_session_id: 'cli-7',
    });
  });
});

describe('an idempotency key', () => {
  const key = { 'idempotency-key': 'k1' };

  it(verifies('D15')('makes one execution of many sends, whatever the order of the fields'), async () => {
    const first = await fleet.api(
      'POST',
      '/api/agents/writer/task',
      { message: 'x', async_mode: true, model: 'm' },
      key,
    );
    const again = await fleet.api(
      'POST',
      '/api/agents/writer/task',
      { model: 'm', async_mode: true, message: 'x' },
      key,
    );
    expect(again.status).toBe(202);
    expect(again.body.execution_id).toBe(first.body.execution_id);
    expect(first.headers['x-idempotent-replay']).toBeUndefined();
    expect(again.headers['x-idempotent-replay']).toBe('true');
    expect(await rows()).toHaveLength(1);
  });

  it(verifies('D15')('joins the wait of a synchronous call, and gives the stored answer after it'), async () => {
    const send = () => fleet.api('POST', '/api/agents/writer/chat', { message: 'x' }, key);
    const both = [send(), send()];
    const [work] = await fleet.runner.claim();
    await fleet.runner.run(work!, 'once');
    const answers = [...(await Promise.all(both)), await send()];
    expect(answers.map((a) => a.status)).toEqual([200, 200, 200]);
    expect(answers.map((a) => a.body.response)).toEqual(['once', 'once', 'once']);
    expect(new Set(answers.map((a) => a.headers['x-execution-id'])).size).toBe(1);
    expect(answers.map((a) => a.headers['x-idempotent-replay']).filter((h) => h === 'true')).toHaveLength(2);
    expect(await rows()).toHaveLength(1);
  });

  it('gives back a failure as it was', async () => {
    const send = () => fleet.api('POST', '/api/agents/writer/task', { message: 'x' }, key);
    const asked = send();
    const [work] = await fleet.runner.claim();
    await fleet.runner.begin(work!);
    await fleet.runner.finish(work!, { exit_code: 3 });
    const [first, again] = [await asked, await send()];
    expect(again.status).toBe(first.status);
    expect(again.status).toBeGreaterThanOrEqual(500);
    expect(again.body).toEqual(first.body);
    expect(again.headers['x-idempotent-replay']).toBe('true');
  });

  it('with another body is 409 and names the execution it belongs to', async () => {
    const first = await fleet.api('POST', '/api/agents/writer/task', { message: 'x', async_mode: true }, key);
    const other = await fleet.api('POST', '/api/agents/writer/task', { message: 'y', async_mode: true }, key);
    expect(other.status).toBe(409);
    expect(other.body.detail).toEqual({
      error: 'idempotency_conflict',
      message: expect.any(String),
      execution_id: first.body.execution_id,
    });
    expect(other.headers['x-execution-id']).toBe(first.body.execution_id);
    await fleet.agent('reader');
    const elsewhere = await fleet.api('POST', '/api/agents/reader/task', { message: 'x', async_mode: true }, key);
    expect(elsewhere.status).toBe(409);
    expect(await rows()).toHaveLength(1);
  });

  it(verifies('D15')('is given back although its agent was stopped meanwhile'), async () => {
    const send = () => fleet.api('POST', '/api/agents/idle/task', { message: 'x', async_mode: true }, key);
    const agent = await fleet.agent('idle');
    const first = await send();
    await fleet.deps.store.write('update_agent', {
      id: agent.id,
      patch: { desired_state: 'stopped' },
      now: fleet.clock.now(),
      steady: fleet.clock.steady(),
    });
    expect((await send()).body.execution_id).toBe(first.body.execution_id);
    const fresh = await fleet.api('POST', '/api/agents/idle/task', { message: 'x', async_mode: true });
    expect(fresh.status).toBe(503);
    expect(fresh.headers['x-drover-error-code']).toBe('agent_stopped');
  });

  it('needs 1 to 255 characters', async () => {
    for (const bad of [' ', 'k'.repeat(256)])
      expect(
        (await fleet.api('POST', '/api/agents/writer/task', { message: 'x' }, { 'idempotency-key': bad })).status,
      ).toBe(422);
    expect(await rows()).toHaveLength(0);
  });
});

describe('a call that is refused', () => {
  const refused = async (url: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await fleet.api('POST', url, body, headers);
    expect(await rows()).toHaveLength(0);
    return answer;
  };

  it('says 404 for an unknown agent and 401 before it', async () => {
    expect((await refused('/api/agents/nobody/chat', { message: 'x' })).status).toBe(404);
    const anonymous = await refused('/api/agents/nobody/chat', { message: 'x' }, { authorization: 'Bearer wrong' });
    expect(anonymous.status).toBe(401);
  });

  it('says 422 and names the field', async () => {
    const cases: [unknown, string][] = [
      [{}, 'message'],
      [{ message: 7 }, 'message'],
      [{ message: ' ' }, 'message'],
      [{ message: 'x', timeout_seconds: 5 }, 'timeout_seconds'],
      [{ message: 'x', max_turns: 0 }, 'max_turns'],
      [{ message: 'x', priority: 'yesterday' }, 'priority'],
      [{ message: 'x', model: '--help' }, 'model'],
    ];
    for (const [body, field] of cases) {
      const answer = await refused('/api/agents/writer/task', body);
      expect([answer.status, answer.body.error.details[0].field]).toEqual([422, field]);
    }
    const notJson = await refused('/api/agents/writer/task', '{"message": ', { 'content-type': 'application/json' });
    expect([notJson.status, notJson.body.error.code]).toEqual([422, 'invalid_json']);
  });

  it('says 413 for a message over the limit, and nothing is stored', async () => {
    const answer = await refused('/api/agents/writer/task', { message: 'x'.repeat(2_000_000) });
    expect([answer.status, answer.body.error.code]).toEqual([413, 'too_large']);
  });

  it('says 429 with what older clients read when the backlog is full', async () => {
    await fleet.agent('narrow', { max_backlog_depth: 2 });
    const send = () => fleet.api('POST', '/api/agents/narrow/task', { message: 'x', async_mode: true });
    expect((await send()).status).toBe(202);
    expect((await send()).status).toBe(202);
    const full = await send();
    expect(full.status).toBe(429);
    expect(full.headers['x-trinity-error-code']).toBe('capacity');
    expect(Number(full.headers['retry-after'])).toBeGreaterThan(0);
    expect(full.body.detail).toMatchObject({
      error: 'backlog_full',
      agent: 'narrow',
      queue_length: 2,
      retry_after: expect.any(Number),
      message: expect.any(String),
    });
    expect(await rows()).toHaveLength(2);
  });

  it(verifies('R20')('says 403 at the depth bound, and no row is made'), async () => {
    await fleet.end();
    fleet = await openFleet({ DROVER_MAX_CALL_DEPTH: '1' });
    await fleet.agent('writer');
    const send = (parent_execution_id: string | null) =>
      fleet.api('POST', '/api/agents/writer/task', { message: 'x', async_mode: true, parent_execution_id });
    const root = (await send(null)).body.execution_id;
    const child = (await send(root)).body.execution_id;
    const tooDeep = await send(child);
    expect(tooDeep.status).toBe(403);
    expect(tooDeep.body.detail).toMatchObject({ error: 'inter_agent_depth_exceeded', depth: 2, max_depth: 1 });
    expect(tooDeep.headers['x-trinity-error-code']).toBe('inter_agent_depth_exceeded');
    expect(await rows()).toHaveLength(2);
  });
});

describe('odd texts', () => {
  const texts: [string, string, string][] = [
    ['a NUL', 'a\0b', 'a\ufffdb'],
    ['a half surrogate', 'a\ud800b\udc00', 'a\ufffdb\ufffd'],
    ['right-to-left text', '\u202eabc\u202c \u05d0\u05d1', '\u202eabc\u202c \u05d0\u05d1'],
    ['ANSI codes', '\u001b[2J\u001b[31mred\u0007', '\u001b[2J\u001b[31mred\u0007'],
    ['one megabyte', 'é'.repeat(512 * 1024), 'é'.repeat(512 * 1024)],
  ];

  it.each(texts)(verifies('D37')('%s is stored, handed to the agent and shown'), async (_, sent, kept) => {
    const { execution_id } = (await fleet.api('POST', '/api/agents/writer/task', { message: sent, async_mode: true }))
      .body;
    const [work] = await fleet.runner.claim();
    expect(work!.message).toBe(kept);
    await fleet.runner.begin(work!);
    await fleet.runner.log(work!, [output(sent)]);
    await fleet.runner.finish(work!, { stream: { response: sent } });
    expect(await fleet.row(execution_id)).toMatchObject({ status: 'success', message: kept, response: kept });
    const log = (await fleet.api('GET', `/api/agents/writer/executions/${execution_id}/log`)).body.log;
    expect(log).toHaveLength(1);
    expect((log[0].text as string).toWellFormed().replaceAll('\0', '\ufffd')).toBe(kept);
    const list = await fleet.api('GET', '/api/agents/writer/executions');
    expect(list.body[0].message.length).toBeLessThanOrEqual(2_000);
    expect(list.text.length).toBeLessThan(20_000);
  });
});
