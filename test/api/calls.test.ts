/** An execution that waits, by whatever route, yields: its answer comes after its resume, and a client that leaves gives the call up. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { executionBearer } from '../../src/contract/principal.ts';
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';
import { commit } from '../../src/record/commit.ts';
import { type Answer, event, type Fleet, openFleet } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet({ DROVER_MAX_CALL_DEPTH: '2' });
  for (const name of ['a', 'b', 'c']) await fleet.agent(name, { max_parallel_tasks: 1 });
});
afterEach(() => fleet.end());

const as = (work: ClaimedWork) => ({ authorization: `Bearer ${executionBearer(work.execution_id, work.token)}` });
const status = async (id: string) => (await fleet.row(id)).status;
/** A root that runs. */
const root = async (agent = 'a', message = 'root'): Promise<ClaimedWork> => {
  await fleet.api('POST', `/api/agents/${agent}/task`, { message, async_mode: true });
  return next();
};
const next = async (): Promise<ClaimedWork> => {
  const [work] = await fleet.runner.claim(1);
  await fleet.runner.begin(work!);
  return work!;
};
const ask = (work: ClaimedWork, path: string, body: object, headers: Record<string, string> = {}) =>
  fleet.api('POST', `/api/agents/${path}`, body, { ...as(work), ...headers });
const becomes = (id: string, wanted: string) =>
  fleet.until(
    () => status(id),
    (s) => s === wanted,
  );

describe('a REST call with the token of an execution', () => {
  it(verifies('R17')('yields its slots, and is answered only when it has them back'), async () => {
    const parent = await root();
    const answer = ask(parent, 'b/chat', { message: 'help' });
    await becomes(parent.execution_id, 'waiting');
    // Somebody else takes the slot that was given up.
    await fleet.api('POST', '/api/agents/a/task', { message: 'other', async_mode: true });
    const [child, other] = [await next(), await next()];
    expect(child).toMatchObject({ message: 'help', depth: 1, agent: { name: 'b' } });
    let told = false;
    void answer.then(() => {
      told = true;
    });
    await fleet.runner.finish(child, { stream: { response: 'helped' } });
    await becomes(child.execution_id, 'success');
    expect([await status(parent.execution_id), told]).toEqual(['waiting', false]);
    await fleet.runner.finish(other);
    expect(await answer).toMatchObject({ status: 200, body: { response: 'helped' } });
    expect(await status(parent.execution_id)).toBe('running');
  });

  it(
    verifies('R17')('a closing server cuts the line of a caller that waits: no answer without its slots'),
    async () => {
      const parent = await root();
      const answer = ask(parent, 'b/chat', { message: 'help' }).catch((e: Error) => e.message);
      await becomes(parent.execution_id, 'waiting');
      const closing = fleet.app.close();
      await fleet.clock.advance(5_000);
      await closing;
      expect(await answer).toBe('response destroyed before completion');
      const row = await fleet.deps.store.read('execution', { id: parent.execution_id });
      expect(row!.status).toBe('waiting');
    },
  );

  it(verifies('R17')('hands all answers of a wait back after the resume, the early one too (F12)'), async () => {
    const parent = await root();
    const told: string[] = [];
    const one = ask(parent, 'b/task', { message: 'one' }).then((r) => told.push(r.body.response));
    await becomes(parent.execution_id, 'waiting');
    const two = ask(parent, 'c/task', { message: 'two' }).then((r) => told.push(r.body.response));
    const chain = () => fleet.api('GET', `/api/executions/${parent.execution_id}/chain`);
    await fleet.until(chain, (c) => c.body.waits.length === 2);
    const first = await next();
    await fleet.runner.finish(first, { stream: { response: first.message } });
    await becomes(first.execution_id, 'success');
    expect([await status(parent.execution_id), told]).toEqual(['waiting', []]);
    const second = await next();
    await fleet.runner.finish(second, { stream: { response: second.message } });
    await Promise.all([one, two]);
    expect(told.sort()).toEqual(['one', 'two']);
  });

  it(verifies('R17')('a wait with a limit ends through the resume, with the id to go on by'), async () => {
    const parent = await root();
    const answer = ask(parent, 'b/task', { message: 'slow' }, { prefer: 'wait=5' });
    await becomes(parent.execution_id, 'waiting');
    const child = await next();
    await fleet.clock.advance(5_000);
    const told = await answer;
    expect(told).toMatchObject({ status: 202, body: { execution_id: child.execution_id } });
    expect(await status(parent.execution_id)).toBe('running');
    expect(await status(child.execution_id)).toBe('running');
    await fleet.runner.finish(child);
    await becomes(child.execution_id, 'success');
  });

  it(
    verifies('R21')('a client that goes away gives the call up: the child ends, its caller runs at once'),
    async () => {
      const parent = await root();
      const url = await fleet.app.listen({ port: 0, host: '127.0.0.1' });
      const gone = new AbortController();
      const call = fetch(`${url}/api/agents/b/chat`, {
        method: 'POST',
        headers: { ...as(parent), 'content-type': 'application/json' },
        body: JSON.stringify({ message: 'help' }),
        signal: gone.signal,
      });
      await becomes(parent.execution_id, 'waiting');
      const child = await next();
      gone.abort();
      await expect(call).rejects.toThrow();
      await becomes(parent.execution_id, 'running');
      expect((await fleet.row(child.execution_id)).cancel_requested_at).not.toBeNull();
    },
  );

  it.each([
    ['b/task', { message: 'help' }],
    ['b/fan-out', { tasks: [{ id: 't', message: 'help' }] }],
  ])(
    verifies(
      'R17',
      'R21',
      'D15',
    )('sent again under its key it joins the wait, and only its newest line may give it up: %s'),
    async (path, body) => {
      const parent = await root();
      const url = await fleet.app.listen({ port: 0, host: '127.0.0.1' });
      const line = () => {
        const gone = new AbortController();
        const answer = fetch(`${url}/api/agents/${path}`, {
          method: 'POST',
          headers: { ...as(parent), 'content-type': 'application/json', 'idempotency-key': 'k', prefer: 'wait=3600' },
          body: JSON.stringify(body),
          signal: gone.signal,
        });
        return { answer, leave: () => gone.abort() };
      };
      const first = line();
      await becomes(parent.execution_id, 'waiting');
      const child = await next();
      // Only once the second has opened its call does the first one's line break.
      const opened = async () =>
        (await fleet.api('GET', `/api/executions/${parent.execution_id}/chain`)).body.waits[0].since as string;
      const since = await opened();
      await fleet.clock.advance(1_000);
      const second = line();
      await fleet.until(opened, (now) => now !== since);
      first.leave();
      await expect(first.answer).rejects.toThrow();
      expect(await status(parent.execution_id)).toBe('waiting');
      const third = line();
      await fleet.runner.finish(child, { stream: { response: 'helped' } });
      const answers = await Promise.all([second.answer, third.answer]);
      expect(answers.map((r) => r.status)).toEqual([200, 200]);
      expect(JSON.stringify(await answers[0]!.json())).toContain('helped');
      expect((await fleet.row(child.execution_id)).cancel_requested_at).toBeNull();
      expect(await status(parent.execution_id)).toBe('running');
    },
  );

  it(
    verifies('R21')('a line that was lost with a killed server keeps no call open that its client gives up'),
    async () => {
      const parent = await root();
      const url = await fleet.app.listen({ port: 0, host: '127.0.0.1' });
      const headers = { ...as(parent), 'content-type': 'application/json', 'idempotency-key': 'k' };
      const body = JSON.stringify({ message: 'help' });
      const id = (await ask(parent, 'b/task', { message: 'help' }, { 'idempotency-key': 'k', prefer: 'wait=0' })).body
        .execution_id;
      // As the killed server left it: opened, and nobody there to close it.
      const caller = { execution_id: parent.execution_id, token: parent.token };
      await commit(fleet.deps, 'open_call', { call_id: 'lost', caller, child_ids: [id] });
      const child = await next();
      expect(child.execution_id).toBe(id);
      const lost = (await fleet.api('GET', `/api/executions/${id}/chain`)).body.waits[0].since;
      await fleet.clock.advance(1_000);
      const gone = new AbortController();
      const again = fetch(`${url}/api/agents/b/task`, { method: 'POST', headers, body, signal: gone.signal });
      const since = async () => (await fleet.api('GET', `/api/executions/${id}/chain`)).body.waits.at(-1).since;
      await fleet.until(since, (now) => now !== lost);
      gone.abort();
      await expect(again).rejects.toThrow();
      await becomes(parent.execution_id, 'running');
      expect((await fleet.row(id)).cancel_requested_at).not.toBeNull();
    },
  );

  it(
    verifies('R21')(
      'that goes on beside its call is marked for people, and what it said before is not held against it',
    ),
    async () => {
      const parent = await root();
      const answer = ask(parent, 'b/chat', { message: 'help' });
      await becomes(parent.execution_id, 'waiting');
      const { now } = fleet.clock;
      await fleet.runner.log(parent, [event({ type: 'assistant' }, now())]);
      expect((await fleet.row(parent.execution_id)).attention).toEqual([]);
      await fleet.clock.advance(6_000);
      await fleet.runner.log(parent, [event({ type: 'system' }, now())], 2);
      expect((await fleet.row(parent.execution_id)).attention).toEqual([]);
      await fleet.runner.log(parent, [event({ type: 'assistant' }, now())], 3);
      expect((await fleet.row(parent.execution_id)).attention).toEqual(['waiting_active']);
      await fleet.runner.finish(await next());
      await answer;
    },
  );

  it(verifies('D15', 'R20')('the same key in two chains is two executions; in one it is one'), async () => {
    const [one, two] = [await root('a'), await root('c')];
    const key = { 'idempotency-key': 'k', prefer: 'wait=0' };
    const say = async (w: ClaimedWork) => (await ask(w, 'b/task', { message: 'm' }, key)).body.execution_id;
    const [x, y, z] = [await say(one), await say(one), await say(two)];
    expect([x === y, x === z]).toEqual([true, false]);
  });
});

describe('refusals that an agent can read', () => {
  const code = (r: Answer) => [r.status, r.body.error.code];

  it(
    verifies('R20', 'D13')('too deep, no such agent, a stopped one, a busy session, somebody else’s work'),
    async () => {
      const one = await root();
      const held = ask(one, 'b/task', { message: 'x' });
      await becomes(one.execution_id, 'waiting');
      const two = await next();
      const deeper = ask(two, 'c/task', { message: 'y' });
      await becomes(two.execution_id, 'waiting');
      const three = await next();
      const deep = await ask(three, 'a/task', { message: 'z' });
      expect(code(deep)).toEqual([403, 'inter_agent_depth_exceeded']);
      expect(deep.body.detail).toMatchObject({ error: 'inter_agent_depth_exceeded', depth: 3, max_depth: 2 });
      expect(deep.headers['x-trinity-error-code']).toBe('inter_agent_depth_exceeded');
      expect(code(await ask(three, 'nobody/task', { message: 'z' }))).toEqual([404, 'not_found']);
      for (const work of [three, two]) await fleet.runner.finish(work);
      await Promise.all([held, deeper]);
      await fleet.api('POST', '/api/agents/c/stop');
      expect(code(await ask(one, 'c/task', { message: 'z' }))).toEqual([503, 'agent_stopped']);
      const talk = await ask(one, 'b/chat', { message: 'z' }, { prefer: 'wait=0' });
      const busy = await ask(one, 'b/chat', { message: 'z', session: talk.body.session_id });
      expect(code(busy)).toEqual([409, 'session_busy']);
      expect(busy.body.error.retryable).toBe(true);
      const mine = await ask(one, 'b/task', { message: 'z', parent_execution_id: two.execution_id });
      expect(code(mine)).toEqual([403, 'call_not_permitted']);
    },
  );

  it(verifies('R17', 'R44')('a forged, a foreign and a stale token speak for nobody'), async () => {
    const [one, two] = [await root('a'), await root('b')];
    const forged = { authorization: `Bearer ${executionBearer(one.execution_id, two.token)}` };
    expect(code(await fleet.api('POST', '/api/agents/c/task', { message: 'x' }, forged))).toEqual([
      401,
      'unauthorized',
    ]);
    expect(code(await fleet.api('POST', '/api/agents/c/stop', {}, as(one)))).toEqual([403, 'forbidden']);
    // Still known for a moment to the gate, refused in the transaction.
    expect((await fleet.api('GET', '/api/agents', undefined, as(one))).status).toBe(200);
    await fleet.runner.finish(one);
    expect(code(await ask(one, 'c/task', { message: 'x' }))).toEqual([409, 'caller_ended']);
    await fleet.clock.advance(5_000);
    expect(code(await ask(one, 'c/task', { message: 'x' }))).toEqual([401, 'unauthorized']);
  });

  it(verifies('R20')('permissions: everybody of its owner by default, then the list, itself always'), async () => {
    const shown = async () => (await fleet.api('GET', '/api/agents/a/permissions')).body;
    expect(await shown()).toMatchObject({ source_agent: 'a', mode: 'default', permitted_agents: ['b', 'c'] });
    expect((await shown()).available_agents).toContainEqual({
      name: 'c',
      status: 'running',
      type: null,
      permitted: true,
    });
    expect((await fleet.api('DELETE', '/api/agents/a/permissions/c')).body.permitted_agents).toEqual(['b']);
    const one = await root();
    const to = (name: string) => ask(one, `${name}/task`, { message: 'x' }, { prefer: 'wait=0' });
    expect(code(await to('c'))).toEqual([403, 'call_not_permitted']);
    expect([(await to('b')).status, (await to('a')).status]).toEqual([202, 202]);
    await fleet.api('POST', '/api/agents/a/permissions/c');
    expect((await to('c')).status).toBe(202);
    expect(
      (await fleet.api('PUT', '/api/agents/a/permissions', { permitted_agents: [] })).body.permitted_agents,
    ).toEqual([]);
    expect(code(await to('b'))).toEqual([403, 'call_not_permitted']);
    expect((await fleet.api('PUT', '/api/agents/a/permissions', { permitted_agents: ['nobody'] })).status).toBe(404);
    expect((await fleet.api('PUT', '/api/agents/a/permissions', { permitted_agents: null })).body.mode).toBe('default');
    expect((await fleet.api('PUT', '/api/agents/a/permissions', { permitted_agents: [] }, as(one))).status).toBe(403);
  });
});

describe('a fan-out', () => {
  const tasks = (n: number) => Array.from({ length: n }, (_, i) => ({ id: `t${i}`, message: `do ${i}` }));

  it(verifies('R9')('is polled, keeps its own bound, and ends partial with what there is'), async () => {
    await fleet.agent('wide', { max_parallel_tasks: 9 });
    const made = await fleet.api('POST', '/api/agents/wide/fan-out', { tasks: tasks(3), max_concurrency: 2 });
    expect(made).toMatchObject({ status: 202, body: { status: 'running', total: 3, counts: { queued: 3 } } });
    const url = `/api/agents/wide/fan-out/${made.body.fan_out_id}`;
    expect(made.headers.location).toBe(url);
    const works = await fleet.runner.claim(9);
    expect(works.map((w) => w.message)).toEqual(['do 0', 'do 1']);
    const behind = made.body.tasks[2].execution_id;
    expect((await fleet.row(behind)).wait).toMatchObject({ reason: 'fan_out_cap', position: 1 });
    for (const w of works) await fleet.runner.begin(w);
    await fleet.runner.finish(works[0]!, { stream: { response: 'zero' } });
    await fleet.runner.finish(works[1]!, { exit_code: 3 });
    const waited = fleet.api('GET', url, undefined, { prefer: 'wait=60' });
    await fleet.runner.run((await fleet.runner.claim(9))[0]!, 'two');
    expect((await waited).body).toMatchObject({
      status: 'partial',
      counts: { success: 2, failed: 1 },
      tasks: [
        { id: 't0', status: 'success', response: 'zero' },
        { id: 't1', status: 'failed' },
        { id: 't2', status: 'success', response: 'two' },
      ],
    });
    expect((await fleet.api('GET', url.replace('wide', 'a'))).status).toBe(404);
  });

  it(verifies('R17')('an execution waits for all of it in one yield, and may cancel what is its own'), async () => {
    const parent = await root();
    const answer = ask(parent, 'b/fan-out', { tasks: tasks(2), max_concurrency: 1 }, { prefer: 'wait=600' });
    await becomes(parent.execution_id, 'waiting');
    for (const response of ['x', 'y']) await fleet.runner.finish(await next(), { stream: { response } });
    expect(await answer).toMatchObject({ status: 200, body: { status: 'completed' } });
    const other = (await fleet.api('POST', '/api/agents/b/fan-out', { tasks: tasks(2) })).body.fan_out_id;
    expect((await ask(parent, `b/fan-out/${other}/cancel`, {})).status).toBe(403);
    expect(
      (await fleet.api('GET', `/api/agents/b/fan-out/${other}`, undefined, { ...as(parent), prefer: 'wait=9' })).status,
    ).toBe(404);
    const done = await fleet.api('POST', `/api/agents/b/fan-out/${other}/cancel`, { reason: 'enough' });
    expect(done.body).toMatchObject({ cancelled: 2, status: 'failed', counts: { cancelled: 2 } });
  });

  it('of 10,000 is refused, typed, with what to do; so are none, and two of one id', async () => {
    const code = async (list: object[]) =>
      (await fleet.api('POST', '/api/agents/b/fan-out', { tasks: list })).body.error.code;
    const many = await fleet.api('POST', '/api/agents/b/fan-out', { tasks: tasks(10_000) });
    expect(many).toMatchObject({ status: 422, body: { error: { code: 'fan_out_too_large', details: { max: 500 } } } });
    expect([await code([]), await code([...tasks(1), ...tasks(1)])]).toEqual(['invalid', 'invalid']);
    expect((await fleet.api('GET', '/api/executions')).body.executions).toEqual([]);
  });
});

it(verifies('R17')('the chain tells who waits for whom, and what it all costs'), async () => {
  const parent = await root();
  const answer = ask(parent, 'b/chat', { message: 'x' });
  await becomes(parent.execution_id, 'waiting');
  const child = await next();
  const chain = async (id: string) => (await fleet.api('GET', `/api/executions/${id}/chain`)).body;
  expect(await chain(child.execution_id)).toMatchObject({
    root_id: parent.execution_id,
    parents: [parent.execution_id],
    children: [],
    waits: [{ execution_id: parent.execution_id, child_id: child.execution_id }],
    open: 2,
    executions: [
      { agent_name: 'a', waits_for: [child.execution_id] },
      { agent_name: 'b', depth: 1 },
    ],
  });
  await fleet.runner.finish(child, { stream: { cost_usd: 0.25 } });
  await answer;
  await fleet.runner.finish(parent, { stream: { cost_usd: 0.5 } });
  await becomes(parent.execution_id, 'success');
  expect(await chain(parent.execution_id)).toMatchObject({
    children: [child.execution_id],
    waits: [],
    open: 0,
    cost: 0.75,
  });
  expect((await fleet.api('GET', '/api/executions/none/chain')).status).toBe(404);
});
