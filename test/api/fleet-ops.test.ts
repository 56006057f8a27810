/** The whole fleet at once; and a chat that goes on from an execution. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fleet, openFleet } from '../support/fleet.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet();
  await fleet.agent('one');
  await fleet.agent('two');
});
afterEach(() => fleet.end());

const task = async (agent: string, body: object = {}) =>
  (await fleet.api('POST', `/api/agents/${agent}/task`, { message: 'x', async_mode: true, ...body })).body.execution_id;
const started = async () => {
  const works = await fleet.runner.claim();
  for (const w of works) await fleet.runner.begin(w);
  return works;
};

describe('the fleet', () => {
  it('is stopped and started again as a whole or in part; what runs ends by itself, unless by force', async () => {
    await task('one');
    await task('two');
    await started();
    const stopped = await fleet.api('POST', '/api/ops/fleet/stop', { agents: ['two'] });
    expect(stopped.body).toMatchObject({ agents: ['two'], stopping: 0 });
    expect((await fleet.api('GET', '/api/ops/fleet/status')).body.summary).toEqual({
      total: 2,
      running: 1,
      stopped: 1,
    });
    expect((await fleet.api('POST', '/api/ops/fleet/stop', { force: true })).body).toMatchObject({ stopping: 2 });
    expect((await fleet.api('POST', '/api/agents/one/task', { message: 'x', async_mode: true })).status).toBe(503);
    expect((await fleet.api('POST', '/api/ops/fleet/restart')).body.agents.sort()).toEqual(['one', 'two']);
    expect((await fleet.api('GET', '/api/ops/fleet/status')).body.summary.running).toBe(2);
    expect((await fleet.api('POST', '/api/ops/fleet/stop', { agents: ['one', 'nobody'] })).status).toBe(404);
    expect((await fleet.api('GET', '/api/ops/fleet/status')).body.summary.running).toBe(2);
  });

  it('in an emergency starts nothing new, ends what runs and keeps the queue', async () => {
    const running = await task('one');
    const [work] = await started();
    const answer = await fleet.api('POST', '/api/ops/emergency-stop', { reason: 'wrong branch' });
    const waiting = await task('two');
    expect(answer.body).toMatchObject({ paused: true, schedules_paused: true, stopping: 1, queued: 0 });
    expect(await fleet.row(running)).toMatchObject({ phase: 'stopping' });
    await fleet.runner.finish(work!, { exit_code: null, signal: 'SIGTERM' });
    expect(await fleet.row(waiting)).toMatchObject({ status: 'queued', wait: { reason: 'fleet_paused' } });
    expect((await fleet.api('GET', '/api/ops/schedules')).body.paused).toBe(true);
    const [entry] = (await fleet.api('GET', '/api/audit?action=fleet.emergency_stop')).body;
    expect(entry.data).toMatchObject({ stopping: 1, reason: 'wrong branch' });
    await fleet.api('POST', '/api/fleet/resume');
    expect((await fleet.runner.claim()).map((w) => w.execution_id)).toEqual([waiting]);
  });

  it('tells its health by axis, and its alerts', async () => {
    await task('one', { max_retries: 0 });
    const [work] = await started();
    await fleet.runner.finish(work!, { exit_code: null, signal: 'SIGSEGV' });
    const { alerts, count } = (await fleet.api('GET', '/api/ops/alerts')).body;
    expect([count, alerts[0].agent_name, alerts[0].title]).toEqual([1, 'one', 'one: Crashed']);
    const health = (await fleet.api('GET', '/api/ops/fleet/health')).body;
    expect(health.overall).toBe('degraded');
    expect(health.agents).toEqual(
      expect.arrayContaining([
        { name: 'one', desired_state: 'running', reachable: true, credential: null, alerts: 1 },
        { name: 'two', desired_state: 'running', reachable: true, credential: null, alerts: 0 },
      ]),
    );
  });
});

describe('a chat', () => {
  const chat = async (body: object) => {
    const asked = fleet.api('POST', '/api/agents/one/chat', { message: 'and now?', ...body });
    const [work] = await fleet.until(
      () => fleet.runner.claim(1),
      (claims) => claims.length > 0,
    );
    await fleet.runner.begin(work!);
    await fleet.runner.finish(work!, { stream: { session_id: 'cli-1', response: 'so' } });
    return { work: work!, answer: (await asked).body };
  };

  it('goes on from a task: its session of the CLI, and shown from its first word', async () => {
    const id = await task('one', { message: 'first' });
    const [work] = await started();
    await fleet.runner.finish(work!, { stream: { session_id: 'cli-1', response: 'did it' } });
    const next = await chat({ continue_execution_id: id });
    expect(next.work).toMatchObject({ kind: 'chat', cli_session_id: 'cli-1' });
    const session = (await fleet.api('GET', `/api/agents/one/chat/sessions/${next.answer.session_id}`)).body;
    expect(session.messages.map((m: { content: string }) => m.content)).toEqual(['first', 'did it', 'and now?', 'so']);
    expect(session.messages[1]).toMatchObject({ role: 'assistant', execution_id: id, cost: null });
    expect((await fleet.api('GET', `/api/agents/two/chat/sessions/${next.answer.session_id}`)).status).toBe(404);
  });

  it('cannot go on from what left no session, or from another agent’s', async () => {
    const id = await task('one');
    const [work] = await started();
    await fleet.runner.finish(work!);
    const refused = await fleet.api('POST', '/api/agents/one/chat', { message: 'x', continue_execution_id: id });
    expect([refused.status, refused.body.error.code]).toEqual([404, 'session_not_found']);
    expect((await fleet.api('POST', '/api/agents/two/chat', { message: 'x', continue_execution_id: id })).status).toBe(
      404,
    );
  });
});
