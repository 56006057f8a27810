/** The MCP server as its clients meet it: the official SDK's own client over HTTP, and the line of an agent's CLI by its runner. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { executionBearer } from '../../src/contract/principal.ts';
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { AdapterHost, McpServer } from '../../src/runner/adapters/adapter.ts';
import { openCallLines } from '../../src/runner/calls/call-lines.ts';
import { callPipe, callsDir } from '../../src/runner/calls/call-pipe.ts';
import type { Run } from '../../src/runner/run.ts';
import { connectServer } from '../../src/runner/server-client.ts';
import { type Fleet, openFleet } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
let url: string;
const open: { close(): unknown }[] = [];
beforeEach(async () => {
  fleet = await openFleet();
  for (const name of ['a', 'b']) await fleet.agent(name, { max_parallel_tasks: 1 });
  url = await fleet.app.listen({ port: 0, host: '127.0.0.1' });
});
afterEach(async () => {
  for (const o of open.splice(0).reverse()) await o.close();
  await fleet.end();
});

const client = async (token: string): Promise<Client> => {
  const c = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await c.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }));
  open.push(c);
  return c;
};
// biome-ignore lint/suspicious/noExplicitAny: what each tool answers; tests look into it
const value = (r: any): any => JSON.parse(r.content[0].text);
const root = async (agent = 'a'): Promise<ClaimedWork> => {
  await fleet.api('POST', `/api/agents/${agent}/task`, { message: 'root', async_mode: true });
  return next();
};
const next = async (): Promise<ClaimedWork> => {
  const works = await fleet.until(
    () => fleet.runner.claim(1),
    (w) => w.length > 0,
  );
  await fleet.runner.begin(works[0]!);
  return works[0]!;
};
const bearer = (w: ClaimedWork) => executionBearer(w.execution_id, w.token);
const becomes = (id: string, wanted: string) =>
  fleet.until(
    async () => (await fleet.row(id)).status,
    (s) => s === wanted,
  );

describe('tools', () => {
  it('are listed with what they take; a wrong argument and a wrong name are refused in words', async () => {
    const c = await client(fleet.owner);
    const { tools } = await c.listTools();
    expect(tools.map((t) => t.name).sort()).toEqual([
      'ask_operator',
      'cancel_execution',
      'chat_with_agent',
      'create_agent',
      'create_schedule',
      'delete_agent',
      'fan_out',
      'get_agent',
      'get_agent_logs',
      'get_chat_history',
      'get_execution_result',
      'get_fan_out_result',
      'list_agents',
      'list_recent_executions',
      'list_schedules',
      'start_agent',
      'stop_agent',
    ]);
    const chat = tools.find((t) => t.name === 'chat_with_agent')!;
    expect(chat.annotations).toEqual({ readOnlyHint: true });
    expect(chat.inputSchema.required).toEqual(['agent_name', 'message']);
    const wrong = await c.callTool({ name: 'chat_with_agent', arguments: { agent_name: 'b' } });
    expect([wrong.isError, value(wrong).error.code]).toEqual([true, 'invalid']);
    expect(value(await c.callTool({ name: 'nonsense', arguments: {} })).error.code).toBe('not_found');
  });

  it(verifies('R44')('are the routes, with the rights of whoever asks'), async () => {
    const c = await client(fleet.owner);
    const call = async (name: string, args: Record<string, unknown> = {}) =>
      value(await c.callTool({ name, arguments: args }));
    expect((await call('list_agents')).map((x: { name: string }) => x.name)).toEqual(['a', 'b']);
    expect(await call('create_agent', { name: 'made', adapter: 'command', command: ['cat'] })).toMatchObject({
      name: 'made',
    });
    expect(await call('stop_agent', { agent_name: 'made' })).toMatchObject({ message: 'Agent made is stopped.' });
    expect(await call('get_agent', { agent_name: 'made' })).toMatchObject({ status: 'stopped' });
    expect(await call('start_agent', { agent_name: 'made' })).toMatchObject({ message: 'Agent made is started.' });
    expect(await call('delete_agent', { agent_name: 'made' })).toMatchObject({ cancelled: 0 });
    const work = await root();
    expect(await call('list_recent_executions', { agent_name: 'a' })).toMatchObject([
      { execution_id: work.execution_id, status: 'running' },
    ]);
    expect(await call('cancel_execution', { execution_id: work.execution_id })).toMatchObject({ status: 'terminated' });
    await fleet.runner.finish(work, { exit_code: null, signal: 'SIGINT' });
    expect(await call('get_agent_logs', { agent_name: 'a' })).toMatchObject({ logs: '' });
    expect(await call('get_chat_history', { agent_name: 'a' })).toEqual([]);
    const inside = await client(bearer(await root('b')));
    const asked = await inside.callTool({ name: 'ask_operator', arguments: { title: 'May I?', kind: 'approval' } });
    expect(value(asked)).toMatchObject({ kind: 'approval', title: 'May I?', status: 'open' });
    const no = await inside.callTool({ name: 'stop_agent', arguments: { agent_name: 'a' } });
    expect([no.isError, value(no).error.code]).toEqual([true, 'forbidden']);
  });

  it('a token that is none, and a method that is not POST, are refused before anything', async () => {
    const post = (token: string) =>
      fetch(`${url}/mcp`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    expect((await post('drx_x.y')).status).toBe(401);
    expect((await fetch(`${url}/mcp`, { headers: { authorization: `Bearer ${fleet.owner}` } })).status).toBe(405);
  });
});

describe('a caller from outside', () => {
  it(verifies('R21')('gets the answer, or a receipt after 20 s to wait by'), async () => {
    const c = await client(fleet.owner);
    const ask = () => c.callTool({ name: 'chat_with_agent', arguments: { agent_name: 'b', message: 'hello' } });
    const soon = ask();
    await fleet.runner.finish(await next(), { stream: { response: 'hi' } });
    expect(value(await soon)).toMatchObject({ status: 'success', response: 'hi' });
    const late = ask();
    const work = await next();
    await fleet.clock.advance(20_000);
    const receipt = value(await late);
    expect(receipt).toMatchObject({ status: 'queued_timeout', execution_id: work.execution_id });
    const wait = c.callTool({
      name: 'get_execution_result',
      arguments: { execution_id: work.execution_id, wait_seconds: 15 },
    });
    await fleet.runner.finish(work, { stream: { response: 'later' } });
    expect(value(await wait)).toMatchObject({ status: 'success', response: 'later' });
  });
});

describe('a caller that is an execution', () => {
  it(verifies('R17', 'R21')('blocks and yields, hears progress, and is answered after its resume'), async () => {
    const parent = await root();
    const c = await client(bearer(parent));
    const heard: (string | undefined)[] = [];
    const answer = c.callTool({ name: 'chat_with_agent', arguments: { agent_name: 'b', message: 'help' } }, undefined, {
      onprogress: (p) => void heard.push(p.message),
    });
    await becomes(parent.execution_id, 'waiting');
    const child = await next();
    await fleet.clock.advance(10_000);
    await fleet.until(
      async () => heard.length,
      (n) => n > 0,
    );
    await fleet.clock.advance(30_000);
    await fleet.runner.finish(child, { stream: { response: 'helped' } });
    expect(value(await answer)).toMatchObject({ status: 'success', response: 'helped', agent_name: 'b' });
    expect((await fleet.row(parent.execution_id)).status).toBe('running');
    expect(await fleet.row(child.execution_id)).toMatchObject({ triggered_by: 'agent', kind: 'chat' });
  });

  it(verifies('R17')('asynchronous work and a later wait: only for its own, and the wait is a yield'), async () => {
    const parent = await root();
    const c = await client(bearer(parent));
    const call = async (name: string, args: Record<string, unknown>) =>
      value(await c.callTool({ name, arguments: args }));
    const { execution_id } = await call('chat_with_agent', { agent_name: 'b', message: 'x', async: true });
    expect((await fleet.row(parent.execution_id)).status).toBe('running');
    const wait = call('get_execution_result', { execution_id, wait_seconds: 600 });
    await becomes(parent.execution_id, 'waiting');
    await fleet.runner.finish(await next(), { exit_code: 3 });
    expect(await wait).toMatchObject({ status: 'failed', cause: 'unknown' });
    await fleet.api('POST', '/api/agents/b/task', { message: 'not yours', async_mode: true });
    const foreign = await next();
    expect(await call('get_execution_result', { execution_id: foreign.execution_id, wait_seconds: 5 })).toMatchObject({
      error: { code: 'not_found' },
    });
    expect(await call('get_execution_result', { execution_id: parent.execution_id, wait_seconds: 5 })).toMatchObject({
      error: { code: 'not_found' },
    });
  });

  it(verifies('R17')('a fan-out is one call: all answers come together, what failed beside them'), async () => {
    const parent = await root();
    const c = await client(bearer(parent));
    const answer = c.callTool({
      name: 'fan_out',
      arguments: { agent_name: 'b', tasks: [1, 2].map((n) => ({ id: `t${n}`, message: `do ${n}` })) },
    });
    await becomes(parent.execution_id, 'waiting');
    await fleet.runner.finish(await next(), { stream: { response: 'one' } });
    await fleet.runner.finish(await next(), { exit_code: 1 });
    const told = value(await answer);
    expect(told).toMatchObject({
      status: 'partial',
      tasks: [
        { id: 't1', response: 'one' },
        { id: 't2', status: 'failed' },
      ],
    });
    const { fan_out_id } = told;
    expect(value(await c.callTool({ name: 'get_fan_out_result', arguments: { fan_out_id } }))).toMatchObject({
      fan_out_id,
      status: 'partial',
    });
  });

  it(verifies('R21')('whose client goes away gives the call up'), async () => {
    const parent = await root();
    const c = await client(bearer(parent));
    const gone = new AbortController();
    const answer = c.callTool({ name: 'chat_with_agent', arguments: { agent_name: 'b', message: 'x' } }, undefined, {
      signal: gone.signal,
    });
    await becomes(parent.execution_id, 'waiting');
    const child = await next();
    gone.abort();
    await expect(answer).rejects.toThrow();
    await c.close();
    await becomes(parent.execution_id, 'running');
    expect((await fleet.row(child.execution_id)).phase).toBe('stopping');
  });
});

describe("an agent's own line, by files that its CLI's shell and its runner share", () => {
  const kernel = () => ({ ...fleet.deps.kernel, clock: systemClock() });
  const line = async (work: ClaimedWork) => {
    const home = mkdtempSync(join(tmpdir(), 'drover-calls-'));
    const adapterHost = { home, serverUrl: url, ownedByAgent() {} } as unknown as AdapterHost;
    const server = connectServer(url, () => '');
    const run = { claim: work, parts: { kernel: kernel(), server, adapterHost } } as unknown as Run;
    const order = (await callPipe(work, adapterHost))!;
    let runner = await openCallLines(run);
    open.push({
      close: async () => {
        await runner.close();
        await server.close();
        rmSync(home, { recursive: true, force: true });
      },
    });
    return {
      dir: callsDir(home, work),
      order,
      runnerStops: () => runner.close(),
      runnerStarts: async () => {
        runner = await openCallLines(run);
      },
      client: () => startClient(order),
    };
  };
  const startClient = ({ command, args }: McpServer) => {
    const child: ChildProcess = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    // biome-ignore lint/suspicious/noExplicitAny: JSON-RPC messages of every kind
    const said: any[] = [];
    createInterface({ input: child.stdout! }).on('line', (text) => {
      try {
        said.push(JSON.parse(text));
      } catch {
        said.push(text);
      }
    });
    const ended = new Promise<number | null>((done) => child.once('exit', done));
    open.push({
      close: async () => {
        child.kill('SIGTERM');
        await ended;
      },
    });
    return {
      pid: child.pid!,
      said,
      ended,
      say: (message: object) => child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
      write: (text: string) => child.stdin!.write(text),
      hangUp: () => child.stdin!.end(),
      signal: (name: NodeJS.Signals) => child.kill(name),
      answer: (id: number) =>
        fleet.until(
          async () => said.find((m) => m.id === id),
          (m) => m !== undefined,
        ),
    };
  };
  const begin = async () => {
    const parent = await root();
    const l = await line(parent);
    return { parent, l, c: l.client() };
  };
  const chat = (id: number, message = 'x') => ({
    id,
    method: 'tools/call',
    params: { name: 'chat_with_agent', arguments: { agent_name: 'b', message } },
  });
  const initialize = (id: number) => ({
    id,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
  });

  it(
    verifies('R21', 'R45')('speaks MCP for its execution, and its token stands in no argument and no file'),
    async () => {
      const { parent, l, c } = await begin();
      c.say(initialize(1));
      expect((await c.answer(1)).result.serverInfo.name).toBe('drover');
      c.say({ method: 'notifications/initialized' });
      c.say(chat(2));
      await fleet.runner.finish(await next(), { stream: { response: 'yes' } });
      expect(value((await c.answer(2)).result)).toMatchObject({ response: 'yes' });
      expect(JSON.stringify(l.order)).not.toContain(parent.token);
      for (const name of readdirSync(l.dir))
        expect(readFileSync(join(l.dir, name), 'utf8')).not.toContain(parent.token);
      c.hangUp();
      expect(await c.ended).toBe(0);
    },
  );

  it(verifies('R21')('a line that breaks is drawn again and joins the wait: one call, one child'), async () => {
    const { parent, c } = await begin();
    c.say(chat(1));
    await becomes(parent.execution_id, 'waiting');
    const child = await next();
    // Every connection is cut, as by a server that is killed.
    fleet.app.server.closeAllConnections();
    await fleet.until(
      async () => (await fleet.deps.store.read('chain', { execution_id: parent.execution_id, limit: 9 }))!,
      (chained) => chained.waits.length === 1 && chained.executions.length === 2,
    );
    expect((await fleet.row(parent.execution_id)).status).toBe('waiting');
    await fleet.runner.finish(child, { stream: { response: 'whole' } });
    expect(value((await c.answer(1)).result)).toMatchObject({ response: 'whole', execution_id: child.execution_id });
    expect((await fleet.api('GET', `/api/executions/${parent.execution_id}/chain`)).body.children).toHaveLength(1);
  });

  it(verifies('R21')('the next runner asks again what has no answer, and nothing twice'), async () => {
    const { parent, l, c } = await begin();
    c.say(initialize(1));
    await c.answer(1);
    c.say(chat(2));
    await becomes(parent.execution_id, 'waiting');
    const child = await next();
    await l.runnerStops();
    // It was killed while it wrote.
    appendFileSync(join(l.dir, `${c.pid}.out`), '{"jsonrpc":"2.0","meth');
    // Said while there is no runner: kept for the next.
    c.say({ id: 3, method: 'tools/list' });
    await fleet.until(
      async () => readFileSync(join(l.dir, `${c.pid}.in`), 'utf8'),
      (text) => text.includes('tools/list'),
    );
    await l.runnerStarts();
    await c.answer(3);
    await fleet.runner.finish(child, { stream: { response: 'after' } });
    expect(value((await c.answer(2)).result)).toMatchObject({ response: 'after', execution_id: child.execution_id });
    expect(c.said.map((m) => m.id)).toEqual([1, undefined, 3, 2]);
    expect((await fleet.api('GET', `/api/executions/${parent.execution_id}/chain`)).body.children).toHaveLength(1);
  });

  it(
    verifies('R21')('a cancel of the CLI gives the call up, also one that came between two runners; so does its end'),
    async () => {
      const { parent, l, c } = await begin();
      const givenUp = async (id: number, giveUp: () => Promise<void>) => {
        c.say(chat(id));
        await becomes(parent.execution_id, 'waiting');
        const child = await next();
        await giveUp();
        await becomes(parent.execution_id, 'running');
        expect((await fleet.row(child.execution_id)).phase).toBe('stopping');
        await fleet.runner.finish(child, { signal: 'SIGTERM', exit_code: null });
      };
      await givenUp(1, async () => void c.say({ method: 'notifications/cancelled', params: { requestId: 1 } }));
      await givenUp(2, async () => {
        await l.runnerStops();
        c.say({ method: 'notifications/cancelled', params: { requestId: 2 } });
        await fleet.until(
          async () => readFileSync(join(l.dir, `${c.pid}.in`), 'utf8'),
          (text) => text.includes('"requestId":2'),
        );
        await l.runnerStarts();
      });
      await givenUp(3, async () => {
        c.signal('SIGINT');
        expect(await c.ended).toBe(0);
      });
      expect(c.said).toEqual([]);
    },
  );

  it('two clients of one run number their calls alike and get their own answers', async () => {
    const { l, c } = await begin();
    const other = l.client();
    c.say(initialize(0));
    other.say({ id: 0, method: 'tools/list' });
    expect((await c.answer(0)).result.serverInfo).toBeDefined();
    expect((await other.answer(0)).result.tools.length).toBeGreaterThan(3);
    expect([c.said.length, other.said.length]).toEqual([1, 1]);
  });

  it('a stale token is an error of the call, and so is a line that is not JSON; the line stays', async () => {
    const { parent, c } = await begin();
    await fleet.runner.finish(parent);
    c.say(chat(1));
    expect((await c.answer(1)).error.message).toContain('401');
    c.write('nonsense\n');
    c.say({ id: 2, method: 'tools/list' });
    expect((await c.answer(2)).error.code).toBe(-32001);
    expect(c.said.map((m) => m.error.code)).toEqual([-32001, -32700, -32001]);
  });

  it(verifies('R45')('what an agent puts in the place of a file is left alone: a link, a pipe'), async () => {
    const { l, c } = await begin();
    const secret = join(l.dir, '..', 'secret');
    writeFileSync(secret, 'of another\n');
    symlinkSync(secret, join(l.dir, '1.in'));
    symlinkSync(secret, join(l.dir, '1.out'));
    execFileSync('mkfifo', [join(l.dir, '2.in'), join(l.dir, '2.out')]);
    c.say(initialize(7));
    await c.answer(7);
    expect(readFileSync(secret, 'utf8')).toBe('of another\n');
  });
});
