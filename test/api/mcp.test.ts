/** The MCP server as its clients meet it: the official SDK's own client over HTTP, and the stdio bridge before it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { executionBearer } from '../../src/contract/principal.ts';
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';
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
  for (const o of open.splice(0)) await o.close();
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

describe('the bridge', () => {
  const bridge = (work: ClaimedWork) => {
    const dir = mkdtempSync(join(tmpdir(), 'drover-bridge-'));
    const file = join(dir, 'line.json');
    writeFileSync(file, JSON.stringify({ url, token: bearer(work) }));
    const child: ChildProcess = spawn(process.execPath, ['--no-warnings', resolve('src/mcp/bridge.ts'), file], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    // biome-ignore lint/suspicious/noExplicitAny: JSON-RPC messages of every kind
    const said: any[] = [];
    createInterface({ input: child.stdout! }).on('line', (text) => said.push(JSON.parse(text)));
    const ended = new Promise<number | null>((done) => child.once('exit', done));
    open.push({
      close: async () => {
        child.kill('SIGKILL');
        await ended;
        rmSync(dir, { recursive: true, force: true });
      },
    });
    return {
      file,
      ended,
      argv: () => readFileSync(`/proc/${child.pid}/cmdline`, 'utf8'),
      say: (message: object) => child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
      hangUp: () => child.stdin!.end(),
      answer: (id: number) =>
        fleet.until(
          async () => said.find((m) => m.id === id),
          (m) => m !== undefined,
        ),
    };
  };
  const chat = (id: number, message = 'x') => ({
    id,
    method: 'tools/call',
    params: { name: 'chat_with_agent', arguments: { agent_name: 'b', message } },
  });

  it(verifies('R21', 'R45')('speaks MCP for its execution, and its token is no argument'), async () => {
    const parent = await root();
    const b = bridge(parent);
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } };
    b.say({ id: 1, method: 'initialize', params });
    expect((await b.answer(1)).result.serverInfo.name).toBe('drover');
    expect(b.argv()).not.toContain(parent.token);
    b.say({ method: 'notifications/initialized' });
    b.say(chat(2));
    await fleet.runner.finish(await next(), { stream: { response: 'yes' } });
    expect(value((await b.answer(2)).result)).toMatchObject({ response: 'yes' });
    b.hangUp();
    expect(await b.ended).toBe(0);
  });

  it(verifies('R21')('a line that breaks is drawn again and joins the wait: one call, one child'), async () => {
    const parent = await root();
    const b = bridge(parent);
    b.say(chat(1));
    await becomes(parent.execution_id, 'waiting');
    const child = await next();
    // Every connection is cut, as by a server that is killed; then it stands on another port.
    fleet.app.server.closeAllConnections();
    await fleet.until(
      async () => (await fleet.deps.store.read('chain', { execution_id: parent.execution_id, limit: 9 }))!,
      (c) => c.waits.length === 1 && c.executions.length === 2,
    );
    expect((await fleet.row(parent.execution_id)).status).toBe('waiting');
    await fleet.runner.finish(child, { stream: { response: 'whole' } });
    expect(value((await b.answer(1)).result)).toMatchObject({ response: 'whole', execution_id: child.execution_id });
    expect((await fleet.api('GET', `/api/executions/${parent.execution_id}/chain`)).body.children).toHaveLength(1);
  });

  it(verifies('R21')('a cancel of the CLI gives the call up; so does its end'), async () => {
    const parent = await root();
    const b = bridge(parent);
    b.say(chat(1));
    await becomes(parent.execution_id, 'waiting');
    const one = await next();
    b.say({ method: 'notifications/cancelled', params: { requestId: 1 } });
    await becomes(parent.execution_id, 'running');
    expect((await fleet.row(one.execution_id)).phase).toBe('stopping');
    await fleet.runner.finish(one, { signal: 'SIGTERM', exit_code: null });
    b.say(chat(2));
    await becomes(parent.execution_id, 'waiting');
    b.hangUp();
    expect(await b.ended).toBe(0);
    await becomes(parent.execution_id, 'running');
  });

  it('a stale token is an error of the call, and the bridge lives on', async () => {
    const parent = await root();
    const b = bridge(parent);
    await fleet.runner.finish(parent);
    b.say(chat(1));
    expect((await b.answer(1)).error.message).toContain('401');
    b.say({ id: 2, method: 'tools/list' });
    expect((await b.answer(2)).error.code).toBe(-32001);
  });
});
