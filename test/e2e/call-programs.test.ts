/**
 * Agents that call agents without any CLI of a vendor: real programs by REST and by `drover run`, and one behind HTTP, through the
 * bundle. Quick enough for what is wide and deep: every cap at 1, twenty levels, crossings, a flood.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AgentService, startAgentService } from '../support/agent-service.ts';
import { type Installation, install, node, root } from '../support/installation.ts';
import { verifies } from '../support/verifies.ts';

let drover: Installation;
const program = join(root, 'test/fixtures/agents/calls-others.mjs');
const byRest = [node, program];
const byCommand = [node, program, '--drover', join(root, 'bin/drover')];

const agent = async (name: string, more: Record<string, unknown> = {}) => {
  const body = { name, adapter: 'command', command: byRest, max_parallel_tasks: 1, ...more };
  const r = await drover.api('POST', '/api/agents', body);
  expect(r.status, JSON.stringify(r.body)).toBe(201);
};
const start = async (name: string, message: unknown, more: Record<string, unknown> = {}): Promise<string> => {
  const body = { message: typeof message === 'string' ? message : JSON.stringify(message), async_mode: true, ...more };
  return (await drover.api('POST', `/api/agents/${name}/task`, body)).body.execution_id;
};
const row = async (id: string) => (await drover.api('GET', `/api/executions/${id}`)).body;
const chain = async (id: string) => (await drover.api('GET', `/api/executions/${id}/chain`)).body;
const fleetLimit = (n: number) => drover.api('PUT', '/api/fleet/limits', { agent_call_limit: n });
/** `call('b', 'c', 'ok')`: b asks c, which says ok. */
const call = (...path: string[]): unknown =>
  path.length === 1 ? path[0] : { to: path[0], message: call(...path.slice(1)) };

/** A port of our own, so that a server that comes back is where it was, as it is for users. */
const freePort = () =>
  new Promise<number>((done) => {
    const s = createServer().listen(0, '127.0.0.1', () => {
      const { port } = s.address() as { port: number };
      s.close(() => done(port));
    });
  });

interface Event {
  id: number;
  type: string;
  agent_name: string | null;
  execution_id: string | null;
}
/** Every event so far: the caps are held against all of history, not against samples of it. */
const history = async (): Promise<Event[]> => {
  const gone = new AbortController();
  const answer = await fetch(`${drover.url}/api/events?after=0`, {
    headers: { authorization: `Bearer ${drover.token}` },
    signal: gone.signal,
  });
  const mark = (await drover.api('POST', '/api/agents/marker/task', { message: 'mark', async_mode: true })).body
    .execution_id;
  const events: Event[] = [];
  let rest = '';
  for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) {
    rest += part;
    const lines = rest.split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line.startsWith('data: ')) events.push(JSON.parse(line.slice(6)));
    if (events.some((e) => e.execution_id === mark)) break;
  }
  gone.abort();
  await drover.ended(mark);
  return events.filter((e) => e.agent_name !== 'marker');
};
const takes = ['execution.claimed', 'execution.resumed'];
const gives = ['execution.waiting', 'execution.settled', 'execution.requeued'];
/** The most that ran side by side, of one agent or of all. */
const mostAtOnce = (events: Event[], name: string | null = null): number => {
  const running = new Set<string>();
  let most = 0;
  for (const e of events) {
    if (e.execution_id === null || (name !== null && e.agent_name !== name)) continue;
    if (takes.includes(e.type)) running.add(e.execution_id);
    if (gives.includes(e.type)) running.delete(e.execution_id);
    most = Math.max(most, running.size);
  }
  return most;
};

beforeAll(async () => {
  drover = await install({ DROVER_MAX_CALL_DEPTH: '20', DROVER_PORT: String(await freePort()) });
  for (const name of ['a', 'b', 'c', 'x', 'y', 'marker']) await agent(name);
  for (const name of ['ca', 'cb', 'cc']) await agent(name, { command: byCommand });
});
afterAll(() => drover?.end());
beforeEach(() => fleetLimit(8));

describe('deep and wide', () => {
  it(verifies('D11', 'R17')('twenty levels complete with every cap 1 and the fleet at 1'), async () => {
    await fleetLimit(1);
    const path = Array.from({ length: 20 }, (_, i) => ['b', 'c', 'a'][i % 3]!);
    const e = await drover.ended(await start('a', call(...path, 'from the depth')));
    expect(e, JSON.stringify(e)).toMatchObject({ status: 'success', response: 'from the depth' });
    const { executions } = await chain(e.id);
    expect(executions.map((x: { depth: number; status: string }) => [x.depth, x.status])).toEqual(
      Array.from({ length: 21 }, (_, i) => [i, 'success']),
    );
    const ids = new Set(executions.map((x: { id: string }) => x.id));
    expect(mostAtOnce((await history()).filter((x) => ids.has(x.execution_id)))).toBe(1);
  });

  it(verifies('D11', 'R17')('nine chains of three complete with the fleet at 8'), async () => {
    for (const name of ['p', 'q', 'r']) await agent(name, { max_parallel_tasks: 9 });
    const ids = await Promise.all(Array.from({ length: 9 }, (_, i) => start('p', call('q', 'r', `chain ${i}`))));
    const ended = await Promise.all(ids.map((id) => drover.ended(id)));
    expect(ended.map((e) => [e.status, e.response])).toEqual(ids.map((_, i) => ['success', `chain ${i}`]));
    expect(mostAtOnce(await history())).toBeLessThanOrEqual(8);
  });

  it(verifies('D11', 'R18')('two that cross each other, many times, complete with every cap 1'), async () => {
    const ids = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        i % 2 === 0 ? start('x', call('y', `x${i}`)) : start('y', call('x', `y${i}`)),
      ),
    );
    const ended = await Promise.all(ids.map((id) => drover.ended(id)));
    expect(ended.map((e) => e.response)).toEqual(ids.map((_, i) => (i % 2 === 0 ? `x${i}` : `y${i}`)));
    const events = await history();
    expect([mostAtOnce(events, 'x'), mostAtOnce(events, 'y')]).toEqual([1, 1]);
  });

  it(verifies('D12')('an agent calls itself ten times side by side with cap 3 while it waits'), async () => {
    await agent('self', { max_parallel_tasks: 3 });
    const e = await drover.ended(await start('self', { to: 'self', message: 'again', times: 10 }));
    expect(e, JSON.stringify(e)).toMatchObject({ status: 'success', response: Array(10).fill('again').join(' ') });
    const most = mostAtOnce(await history(), 'self');
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(3);
  });

  it(verifies('D5', 'R10')('a flood of 200 does not keep one chat waiting for more than a few claims'), async () => {
    await fleetLimit(2);
    await agent('flooded', { max_parallel_tasks: 3, command: ['cat'] });
    const flood = await Promise.all(Array.from({ length: 200 }, (_, i) => start('flooded', `batch ${i}`)));
    const chat = await drover.api('POST', '/api/agents/y/chat', { message: 'hello' });
    expect([chat.status, chat.body.response]).toEqual([200, 'hello']);
    const id = chat.headers.get('x-execution-id');
    const events = await history();
    const queuedAt = events.find((e) => e.execution_id === id && e.type === 'execution.queued')!.id;
    const claims = events.filter((e) => e.type === 'execution.claimed' && e.id > queuedAt);
    // A quarter of the slots is offered to it first; what was claimed in the same instant may stand before it.
    expect(claims.findIndex((e) => e.execution_id === id)).toBeLessThanOrEqual(2);
    await drover.api('POST', '/api/agents/flooded/queue/clear', {});
    for (const each of flood) await drover.ended(each);
  });
});

describe('`drover run` inside an agent', () => {
  it(verifies('R17')('is a yield: three hops and a cycle complete with every cap 1 and the fleet at 1'), async () => {
    await fleetLimit(1);
    const e = await drover.ended(await start('ca', call('cb', 'cc', 'ca', 'said by all')));
    expect(e, JSON.stringify(e)).toMatchObject({ status: 'success', response: 'said by all' });
    const { executions } = await chain(e.id);
    expect(executions.map((x: { agent_name: string }) => x.agent_name)).toEqual(['ca', 'cb', 'cc', 'ca']);
    const ids = new Set(executions.map((x: { id: string }) => x.id));
    expect(mostAtOnce((await history()).filter((x) => ids.has(x.execution_id)))).toBe(1);
  });

  /** An agent that ends when the test says so. */
  const gated = async (name: string): Promise<() => void> => {
    const gate = join(drover.home, `gate-${name}`);
    await agent(name, {
      command: ['/bin/sh', '-c', `until [ -e '${gate}' ]; do sleep 0.05; done; echo after the gate`],
    });
    return () => writeFileSync(gate, '');
  };
  const waiting = async (id: string): Promise<string> =>
    (
      await drover.until(
        `${id} waits and its child runs`,
        async () => [await row(id), await chain(id)] as const,
        ([e, c]) => e.status === 'waiting' && c.executions[1]?.started_at != null,
      )
    )[1].executions[1].id;

  it(
    verifies('R11', 'R17')('is shown by `ps` and `why`: who waits for whom, who called it, and the whole chain'),
    async () => {
      const open = await gated('seen');
      const id = await start('ca', call('seen', 'go'));
      const child = await waiting(id);
      const shown = async (...args: string[]) =>
        (
          await promisify(execFile)(join(root, 'bin/drover'), args, {
            env: { PATH: process.env.PATH, DROVER_SERVER_URL: drover.url, DROVER_TOKEN: drover.token },
          })
        ).stdout;
      const lines = (await shown('ps')).split('\n');
      expect(lines.find((l) => l.includes(id))).toMatch(/ca .*waiting.*waits for seen/);
      expect(lines.find((l) => l.includes(child))).toMatch(/seen .*running.* ca$/);
      const why = await shown('why', child);
      expect(why).toContain(`  ca ${id}: waiting, waits for seen`);
      expect(why).toContain(`    seen ${child}: running`);
      open();
      expect((await drover.ended(id)).status).toBe('success');
    },
  );

  it(verifies('R2', 'R17', 'D15')('outlives a killed server and joins its wait by its key'), async () => {
    const open = await gated('slow');
    const id = await start('ca', call('slow', 'go'));
    const child = await waiting(id);
    await drover.killServer();
    await drover.start();
    expect((await row(id)).status).toBe('waiting');
    open();
    const e = await drover.ended(id);
    expect(e, JSON.stringify(e)).toMatchObject({ status: 'success', response: 'after the gate', attempt: 1 });
    expect((await chain(id)).executions.map((x: { id: string }) => x.id)).toEqual([id, child]);
  });

  it(
    verifies('R17', 'R21')('is given up when its process is killed: the child ends, and its caller runs at once'),
    async () => {
      await gated('endless');
      const id = await start('ca', call('endless', 'go'));
      const child = await waiting(id);
      const pids = drover.pids('cli.js');
      expect(pids).toHaveLength(1);
      process.kill(pids[0]!, 'SIGKILL');
      expect(await drover.ended(child)).toMatchObject({ status: 'cancelled' });
      expect(await drover.ended(id)).toMatchObject({ status: 'failed' });
      expect((await row(id)).attempts.at(-1), JSON.stringify((await row(id)).attempts)).toMatchObject({ exit_code: 1 });
    },
  );

  it(verifies('R17')('with --wait gives its slots up for that long, and the child goes on'), async () => {
    const open = await gated('later');
    await agent('patient', {
      command: [
        '/bin/sh',
        '-c',
        `cat >/dev/null; '${join(root, 'bin/drover')}' run later go --wait 1 2>&1; echo "exit $?"`,
      ],
    });
    const e = await drover.ended(await start('patient', 'go'));
    expect(e.response).toMatch(/The wait is over.*exit 11/s);
    const child = (await chain(e.id)).executions[1].id;
    expect((await row(child)).status).toBe('running');
    open();
    expect((await drover.ended(child)).status).toBe('success');
  });

  it(verifies('R17')('logs -f is a wait too: it reads the whole log of a child that needs its very slot'), async () => {
    await fleetLimit(1);
    const bin = join(root, 'bin/drover');
    await agent('reader', {
      command: ['/bin/sh', '-c', `cat >/dev/null; id=$('${bin}' run b 'read me' --async); '${bin}' logs -f "$id"`],
    });
    const e = await drover.ended(await start('reader', 'go'));
    expect(e, JSON.stringify(e)).toMatchObject({ status: 'success' });
    expect(e.response).toContain('read me');
  });
});

describe('an agent behind HTTP', () => {
  let service: AgentService;
  afterEach(() => service.close());

  it(verifies('R17')('is given a token of its execution and yields by REST, with every cap 1'), async () => {
    await fleetLimit(1);
    service = await startAgentService();
    service.onPost = (body) => {
      const { server_url, token } = body.callback as { server_url: string; token: string };
      void (async () => {
        const answer = await fetch(`${server_url}/api/agents/b/task`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ message: `for ${body.message}` }),
        });
        const { response } = (await answer.json()) as { response: string };
        const result = { response: `b says: ${response}`, status: 'success', metadata: { num_turns: 1 } };
        service.results.set(String(body.execution_id), { status: 200, body: result });
      })();
      return { status: 202, body: {} };
    };
    await agent('served', { adapter: 'http', command: undefined, base_url: service.url });
    const e = await drover.ended(await start('served', 'the service'));
    expect(e, JSON.stringify(e)).toMatchObject({ status: 'success', response: 'b says: for the service' });
    const { executions } = await chain(e.id);
    expect(executions.map((x: { agent_name: string }) => x.agent_name)).toEqual(['served', 'b']);
    const ids = new Set(executions.map((x: { id: string }) => x.id));
    expect(mostAtOnce((await history()).filter((x) => ids.has(x.execution_id)))).toBe(1);
    const { headers, body } = service.taken[0]!;
    const callback = body.callback as Record<string, string>;
    expect(headers).toMatchObject({
      'x-drover-url': drover.url,
      'x-drover-token': callback.token,
      'x-drover-execution-id': e.id,
    });
    expect(callback).toMatchObject({ server_url: drover.url, mcp_url: `${drover.url}/mcp`, execution_id: e.id });
    // It was this execution's alone: with its end it speaks for nobody.
    const late = async () =>
      (await fetch(`${drover.url}/api/agents`, { headers: { authorization: `Bearer ${callback.token}` } })).status;
    await drover.until('the token is none any more', late, (status) => status === 401);
  });
});
