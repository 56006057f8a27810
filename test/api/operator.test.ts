/** Agents ask, people answer, and the answer reaches who asked: through the real routes, with a runner that the test plays. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { executionBearer } from '../../src/contract/principal.ts';
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';
import { type Fleet, openFleet } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet();
  await fleet.agent('writer');
});
afterEach(() => fleet.end());

const task = async (more: object = {}) =>
  (await fleet.api('POST', '/api/agents/writer/task', { message: 'write', async_mode: true, ...more })).body
    .execution_id as string;
const begun = async (): Promise<ClaimedWork> => {
  const [work] = await fleet.until(
    () => fleet.runner.claim(1),
    (claims) => claims.length > 0,
  );
  await fleet.runner.begin(work!);
  return work!;
};
const as = (work: ClaimedWork) => ({ authorization: `Bearer ${executionBearer(work.execution_id, work.token)}` });
const agentKey = async (agent: string) => {
  const made = await fleet.api('POST', '/api/mcp/keys', { name: `${agent}-key`, scope: 'agent', agent_name: agent });
  return { authorization: `Bearer ${made.body.api_key ?? made.body.key}` };
};
const ask = (headers: Record<string, string>, body: object = {}) =>
  fleet.api('POST', '/api/operator-queue', { title: 'Which branch?', options: ['main', 'next'], ...body }, headers);
const respond = (id: string, answer: string, more: object = {}) =>
  fleet.api('POST', `/api/operator-queue/${id}/respond`, { answer, ...more });
const item = async (id: string) => (await fleet.api('GET', `/api/operator-queue/${id}`)).body;
/** Until the answer has left `pending`; time goes on meanwhile. */
const delivered = (id: string) =>
  fleet.until(
    async () => {
      await fleet.clock.advance(1_000);
      return item(id);
    },
    (i) => i.delivery !== 'pending',
  );
/** With a session of its CLI, so that there is something to go on from. */
const finish = (work: ClaimedWork) =>
  fleet.runner.finish(work, { stream: { cli: 'claude', session_id: 'cli-1', response: 'asked' } });
const queued = async () =>
  (await fleet.api('GET', '/api/executions?status=queued')).body.executions as { id: string; message: string }[];

describe('a question of an execution', () => {
  it(
    verifies('R42')('that has ended is answered by a turn in the same session, with what it was asked with'),
    async () => {
      await task({ model: 'small', allowed_tools: ['Read'], timeout_seconds: 77 });
      const work = await begun();
      const asked = await ask(as(work));
      expect(asked.status).toBe(201);
      expect(asked.body).toMatchObject({
        kind: 'question',
        agent_name: 'writer',
        execution_id: work.execution_id,
        options: ['main', 'next'],
        status: 'open',
      });
      expect(await ask(as(work))).toMatchObject({ status: 200, body: { id: asked.body.id, count: 2 } });
      await finish(work);

      const { status, body } = await respond(asked.body.id, 'next');
      expect([status, body.status, body.delivery, body.answered_by]).toEqual([200, 'answered', 'resumed', 'admin']);
      const turn = await begun();
      expect(turn).toMatchObject({
        execution_id: body.answer_execution_id,
        kind: 'chat',
        cli_session_id: 'cli-1',
        timeout_s: 77,
        options: { model: 'small', allowed_tools: ['Read'] },
      });
      expect(turn.message).toBe('The operator has answered your question.\n\nQuestion: Which branch?\n\nAnswer: next');
      expect(await respond(asked.body.id, 'next')).toMatchObject({ status: 200, body: { delivery: 'resumed' } });
      expect(await respond(asked.body.id, 'main')).toMatchObject({
        status: 409,
        body: { error: { code: 'conflict' } },
      });
      expect(await queued()).toEqual([]);
    },
  );

  it(verifies('R42')('that lives is answered to itself when it comes for it, and no turn is started'), async () => {
    await task();
    const work = await begun();
    const { id } = (await ask(as(work))).body;
    const waiting = fleet.api('POST', `/api/operator-queue/${id}/await`, { wait_seconds: 300 }, as(work));
    const answered = await respond(id, 'main');
    expect(answered.body.delivery).toMatch(/pending|returned/);
    expect((await waiting).body).toMatchObject({ status: 'answered', answer: 'main', delivery: 'returned' });
    await finish(work);
    await fleet.clock.advance(60_000);
    expect(await item(id)).toMatchObject({ delivery: 'returned', answer_execution_id: null });
    expect(await queued()).toEqual([]);
  });

  it(verifies('R42')('that was answered while it lived and ended without coming for it gets a turn then'), async () => {
    await task();
    const work = await begun();
    const { id } = (await ask(as(work))).body;
    expect((await respond(id, 'main')).body.delivery).toBe('pending');
    expect(await queued()).toEqual([]);
    await finish(work);
    expect(await delivered(id)).toMatchObject({ delivery: 'resumed' });
    expect((await queued()).map((r) => r.message)).toEqual([expect.stringContaining('Answer: main')]);
  });

  it('waits no longer than it said, and is told that there is no answer yet', async () => {
    await task();
    const work = await begun();
    const { id } = (await ask(as(work))).body;
    const waiting = fleet.api('POST', `/api/operator-queue/${id}/await`, { wait_seconds: 5 }, as(work));
    let over = false;
    void waiting.then(() => {
      over = true;
    });
    await fleet.until(
      async () => {
        await fleet.clock.advance(1_000);
        return over;
      },
      (done) => done,
    );
    expect((await waiting).body).toMatchObject({ status: 'open', answer: null });
    expect(
      (await fleet.api('POST', `/api/operator-queue/${id}/await`, undefined, { authorization: 'Bearer x' })).status,
    ).toBe(401);
  });

  it('goes to the main conversation, whole, when its session is gone', async () => {
    await task();
    const work = await begun();
    const { id } = (await ask(as(work), { details: 'Both build.' })).body;
    // A run that told no session of its CLI leaves nothing to go on from.
    await fleet.runner.finish(work);
    expect((await respond(id, 'next')).body).toMatchObject({
      delivery: 'resumed',
      delivery_note: expect.stringContaining('main conversation'),
    });
    expect((await begun()).message).toContain('Question: Which branch?\nBoth build.');
  });

  it(verifies('R42')('of a stopped agent keeps its answer until the agent takes work again'), async () => {
    await task();
    const work = await begun();
    const { id } = (await ask(as(work))).body;
    await finish(work);
    await fleet.api('POST', '/api/agents/writer/stop');
    const answered = await respond(id, 'main');
    expect(answered.body).toMatchObject({ delivery: 'pending', delivery_note: expect.stringContaining('stopped') });
    await fleet.api('POST', '/api/agents/writer/start');
    expect(await delivered(id)).toMatchObject({ delivery: 'resumed', delivery_note: null });
  });

  it(
    verifies('R42')('answered by a server that died before the turn was queued gets one turn from the next, not two'),
    async () => {
      await task();
      const work = await begun();
      const { id } = (await ask(as(work))).body;
      await finish(work);
      const { store } = fleet.deps;
      const { write } = store;
      // The turn is queued, and the record of it is lost: what a crash between the two leaves.
      store.write = (verb, args) =>
        verb === 'answer_delivered' ? Promise.reject(new Error('the server died here')) : write(verb, args);
      await respond(id, 'main');
      store.write = write;
      const [first] = await queued();
      expect(await item(id)).toMatchObject({ delivery: 'pending' });
      await fleet.clock.advance(30_000);
      expect(await delivered(id)).toMatchObject({ delivery: 'resumed', answer_execution_id: first!.id });
      expect(await queued()).toHaveLength(1);
    },
  );

  it('that is cancelled closes with it; the answer is refused, not lost in silence', async () => {
    const eid = await task();
    const work = await begun();
    const { id } = (await ask(as(work))).body;
    await fleet.api('POST', `/api/agents/writer/executions/${eid}/terminate`);
    await fleet.runner.finish(work, {
      exit_code: null,
      signal: 'SIGTERM',
      stop: { reason: 'cancel', at: 1, detail: null },
    });
    expect(await item(id)).toMatchObject({ status: 'closed' });
    expect(await respond(id, 'main')).toMatchObject({ status: 409 });
    expect(await queued()).toEqual([]);
  });
});

describe('an approval', () => {
  it(verifies('R42')('is approved or denied and nothing else; a note goes with it'), async () => {
    await task();
    const work = await begun();
    const asked = await ask(as(work), { kind: 'approval', title: 'Push to main', options: [], severity: 'high' });
    expect(asked.body).toMatchObject({ kind: 'approval', severity: 'high' });
    expect(await ask(as(work), { kind: 'approval' })).toMatchObject({ status: 422 });
    await finish(work);
    expect(await respond(asked.body.id, 'sure')).toMatchObject({
      status: 422,
      body: { error: { details: [{ field: 'answer', problem: 'must be approve or deny' }] } },
    });
    const denied = await respond(asked.body.id, 'deny', { note: 'On a branch first.' });
    expect(denied.body).toMatchObject({ answer: 'deny', note: 'On a branch first.' });
    expect(await respond(asked.body.id, 'approve')).toMatchObject({ status: 409 });
    expect((await begun()).message).toBe(
      'The operator has denied what you asked approval for.\n\nAsked: Push to main\n\nNote: On a branch first.',
    );
  });
});

describe('who may ask and see', () => {
  it(
    verifies('R42', 'R44')('an agent by its key, for its own executions; people do not ask, viewers do not answer'),
    async () => {
      await fleet.agent('other');
      const [writer, other] = [await agentKey('writer'), await agentKey('other')];
      const eid = await task();
      const work = await begun();
      const { id } = (await ask(writer, { execution_id: eid })).body;
      expect(await item(id)).toMatchObject({ execution_id: eid });
      expect((await ask(other, { execution_id: eid })).status).toBe(404);
      expect((await ask(as(work), { execution_id: 'another' })).status).toBe(403);
      expect((await ask({})).status).toBe(403);
      expect((await ask(writer, { title: ' ' })).status).toBe(422);
      expect((await fleet.api('GET', `/api/operator-queue/${id}`, undefined, writer)).status).toBe(200);
      expect((await fleet.api('GET', `/api/operator-queue/${id}`, undefined, other)).status).toBe(404);
      expect((await fleet.api('POST', `/api/operator-queue/${id}/await`, undefined, other)).status).toBe(404);
      expect((await fleet.api('POST', `/api/operator-queue/${id}/respond`, { answer: 'x' }, writer)).status).toBe(403);
      expect((await fleet.api('GET', '/api/operator-queue', undefined, writer)).status).toBe(403);
      await finish(work);
      expect((await ask(as(work))).body.error.code).toBe('caller_ended');
    },
  );

  it('a question that names no execution is answered in the main conversation', async () => {
    const { id } = (await ask(await agentKey('writer'))).body;
    expect((await respond(id, 'main')).body).toMatchObject({ delivery: 'resumed', execution_id: null });
    expect((await begun()).kind).toBe('chat');
  });

  it('a question too many is refused with what to do', async () => {
    const key = await agentKey('writer');
    for (let i = 0; i < 15; i++) expect((await ask(key, { title: `Question ${i}?` })).status).toBe(201);
    const refused = await ask(key, { title: 'And this?' });
    expect([refused.status, refused.body.error.code]).toEqual([429, 'inbox_full']);
    expect(refused.body.error.message).toContain('15 questions');
  });

  it('the list gives what waits for a person, questions that were seen too', async () => {
    const { id } = (await ask(await agentKey('writer'))).body;
    await fleet.api('POST', `/api/operator-queue/${id}/acknowledge`);
    const list = async (status: string) => (await fleet.api('GET', `/api/operator-queue?status=${status}`)).body;
    expect(await list('open')).toEqual([]);
    expect(await list('pending')).toMatchObject([{ id, status: 'acknowledged' }]);
  });
});

describe('alerts', () => {
  const oom = {
    exit_code: null,
    signal: 'SIGKILL',
    memory: {
      held_by: 'cgroup_v2' as const,
      limit_bytes: 384 * 1024 ** 2,
      peak_bytes: 384 * 1024 ** 2,
      oom_kills_before: 0,
      oom_kills_after: 1,
      oom_group_kills: null,
      host_oom_kills_before: null,
      host_oom_kills_after: null,
    },
  };
  const open = async () => (await fleet.api('GET', '/api/operator-queue?status=open')).body;

  it(
    verifies('R42', 'D17')('of memory name limit, peak, count and setting, once however often it happens'),
    async () => {
      for (let i = 0; i < 2; i++) {
        await task();
        await fleet.runner.finish(await begun(), oom);
      }
      const [alert, ...more] = await open();
      expect(more).toEqual([]);
      expect(alert).toMatchObject({ kind: 'alert', severity: 'high', count: 2, agent_name: 'writer' });
      expect(alert.evidence.slice(0, 2)).toEqual([
        'limit 384 MiB, peak 384 MiB, kills 1',
        'Setting: resources.memory of the agent (it has none, so the host is the limit)',
      ]);
    },
  );

  it(verifies('R42')('of the same failure three times in a row come once, and go with the next success'), async () => {
    const fail = async () => {
      await task({ max_retries: 0 });
      await fleet.runner.finish(await begun(), {
        exit_code: null,
        signal: 'SIGTERM',
        stop: { reason: 'deadline', at: 1, detail: null },
      });
    };
    await fail();
    await fail();
    expect(await open()).toEqual([]);
    await fail();
    expect(await open()).toMatchObject([{ title: 'writer: Out of time, 3 times in a row', severity: 'high' }]);
    await task();
    await fleet.runner.finish(await begun());
    expect(await open()).toEqual([]);
  });
});
