/**
 * What an agent is told when it asks for what it may not have: the same refusal by MCP and by REST, with a code, whether trying again
 * helps, and what to do. And each tool on its own: what it takes, and that it says so when it gets something else.
 */
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
  fleet = await openFleet({ DROVER_MAX_CALL_DEPTH: '2' });
  for (const name of ['a', 'b', 'c']) await fleet.agent(name);
  url = await fleet.app.listen({ port: 0, host: '127.0.0.1' });
});
afterEach(async () => {
  for (const o of open.splice(0)) await o.close();
  await fleet.end();
});

const connect = async (token: string): Promise<Client> => {
  const c = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await c.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }));
  open.push(c);
  return c;
};
const bearer = (w: ClaimedWork) => executionBearer(w.execution_id, w.token);
const next = async (): Promise<ClaimedWork> => {
  const works = await fleet.until(
    () => fleet.runner.claim(1),
    (w) => w.length > 0,
  );
  await fleet.runner.begin(works[0]!);
  return works[0]!;
};
const root = async (agent = 'a', kind: 'task' | 'chat' = 'task'): Promise<ClaimedWork> => {
  await fleet.api('POST', `/api/agents/${agent}/${kind}`, { message: 'root' }, { prefer: 'wait=0' });
  return next();
};
/** A child that runs, called without anybody waiting for it. */
const childOf = async (parent: ClaimedWork, agent: string): Promise<ClaimedWork> => {
  const headers = { authorization: `Bearer ${bearer(parent)}`, prefer: 'wait=0' };
  expect((await fleet.api('POST', `/api/agents/${agent}/task`, { message: 'child' }, headers)).status).toBe(202);
  return next();
};

interface Told {
  code: string;
  message: string;
  hint: string;
  retryable: boolean;
  details?: unknown;
}
const byMcp = async (work: ClaimedWork, name: string, args: Record<string, unknown>): Promise<Told> => {
  const c = await connect(bearer(work));
  const answer = (await c.callTool({ name, arguments: args })) as { isError?: boolean; content: { text: string }[] };
  expect(answer.isError).toBe(true);
  return JSON.parse(answer.content[0]!.text).error;
};
const byRest = async (work: ClaimedWork, path: string, body: object) => {
  const r = await fleet.api('POST', `/api/agents/${path}`, body, { authorization: `Bearer ${bearer(work)}` });
  return { status: r.status, ...(r.body.error as Omit<Told, 'hint'>) };
};

interface Case {
  what: string;
  code: string;
  status: number;
  retryable: boolean;
  /** Who asks. */
  by(): Promise<ClaimedWork>;
  to: string;
  more?: (by: ClaimedWork) => Promise<Record<string, unknown>>;
}
const cases: Case[] = [
  {
    what: 'an agent that is not there',
    code: 'not_found',
    status: 404,
    retryable: false,
    by: () => root(),
    to: 'nobody',
  },
  {
    what: 'one that is stopped',
    code: 'agent_stopped',
    status: 503,
    retryable: true,
    async by() {
      await fleet.api('POST', '/api/agents/c/stop');
      return root();
    },
    to: 'c',
  },
  {
    what: 'one it may not call',
    code: 'call_not_permitted',
    status: 403,
    retryable: false,
    async by() {
      await fleet.api('PUT', '/api/agents/a/permissions', { permitted_agents: ['c'] });
      return root();
    },
    to: 'b',
  },
  {
    what: 'a level too deep',
    code: 'inter_agent_depth_exceeded',
    status: 403,
    retryable: false,
    by: async () => childOf(await childOf(await root(), 'b'), 'c'),
    to: 'a',
  },
  {
    what: 'a session that an ancestor holds',
    code: 'session_busy',
    status: 409,
    retryable: true,
    by: async () => childOf(await root('a', 'chat'), 'b'),
    to: 'a',
    more: async (by) => {
      const { parent_execution_id } = await fleet.row(by.execution_id);
      return { session: (await fleet.row(parent_execution_id)).session_id };
    },
  },
  {
    what: 'a session that is not there',
    code: 'session_not_found',
    status: 404,
    retryable: false,
    by: () => root(),
    to: 'b',
    more: async () => ({ session: 'none' }),
  },
];

describe('an agent that asks for', () => {
  it.each(cases)(
    verifies('R18', 'R20')('$what is refused, typed and with what to do, and nothing is left behind'),
    async (c) => {
      const by = await c.by();
      const more = (await c.more?.(by)) ?? {};
      const before = (await fleet.api('GET', '/api/executions')).body.executions.length;
      const rest = await byRest(by, `${c.to}/chat`, { message: 'help', ...more });
      expect(rest).toMatchObject({ status: c.status, code: c.code, retryable: c.retryable });
      const told = await byMcp(by, 'chat_with_agent', { agent_name: c.to, message: 'help', ...more });
      expect(told).toMatchObject({ code: c.code, retryable: c.retryable, message: rest.message });
      expect(told.hint.length).toBeGreaterThan(10);
      expect((await fleet.row(by.execution_id)).status).toBe('running');
      expect((await fleet.api('GET', '/api/executions')).body.executions).toHaveLength(before);
    },
  );

  it(verifies('R20')('a fan-out of 10,000 reads how many it may ask for'), async () => {
    const by = await root();
    const tasks = Array.from({ length: 10_000 }, (_, i) => ({ id: `t${i}`, message: 'x' }));
    const limit = { code: 'fan_out_too_large', retryable: false, details: { tasks: 10_000, max: 500 } };
    expect(await byRest(by, 'b/fan-out', { tasks })).toMatchObject({ status: 422, ...limit });
    const told = await byMcp(by, 'fan_out', { agent_name: 'b', tasks });
    expect(told).toMatchObject({ ...limit, hint: expect.stringContaining('several batches') });
  });

  it(verifies('R17', 'R44')('anything with a forged, a foreign or a stale token speaks for nobody'), async () => {
    const [one, two] = [await root('a'), await root('b')];
    const post = async (token: string) => {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      const r = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(body),
      });
      return [r.status, r.status === 200 ? null : (await r.json()).error.code];
    };
    expect(await post(executionBearer(one.execution_id, two.token))).toEqual([401, 'unauthorized']);
    expect(await post(executionBearer('00000000000000000000000000', one.token))).toEqual([401, 'unauthorized']);
    expect(await post(bearer(one))).toEqual([200, null]);
    // Still known to the gate for a moment, it is refused in the transaction that would have queued.
    await fleet.runner.finish(one);
    expect(await byMcp(one, 'chat_with_agent', { agent_name: 'b', message: 'x' })).toMatchObject({
      code: 'caller_ended',
    });
    await fleet.clock.advance(5_000);
    expect(await post(bearer(one))).toEqual([401, 'unauthorized']);
    // What belongs to another is to it as if it were not there.
    expect(await byMcp(two, 'get_execution_result', { execution_id: one.execution_id, wait_seconds: 9 })).toMatchObject(
      {
        code: 'not_found',
      },
    );
  });
});

describe('each tool', () => {
  it('says what it takes, misses it by name, and knows no agent that is not there', async () => {
    const c = await connect(fleet.owner);
    const call = async (name: string, args: Record<string, unknown>) =>
      (await c.callTool({ name, arguments: args })) as { isError?: boolean; content: { text: string }[] };
    const { tools } = await c.listTools();
    expect(tools.length).toBeGreaterThanOrEqual(15);
    const given: Record<string, unknown> = {
      agent_name: 'nobody',
      name: '!!!',
      message: 'x',
      tasks: [{ id: '1', message: 'x' }],
      execution_id: 'none',
      fan_out_id: 'none',
      title: 'May I?',
      cron_expression: '0 9 * * *',
    };
    for (const { name, description, inputSchema } of tools) {
      expect([inputSchema.type, (description ?? '').length > 20], name).toEqual(['object', true]);
      const required = inputSchema.required ?? [];
      for (const field of required) {
        const rest = Object.fromEntries(required.filter((f) => f !== field).map((f) => [f, given[f]]));
        const missing = await call(name, rest);
        expect([name, missing.isError], missing.content[0]!.text).toEqual([name, true]);
        expect(JSON.parse(missing.content[0]!.text).error, name).toMatchObject({
          code: 'invalid',
          message: expect.stringContaining(field),
        });
      }
      const ids = ['agent_name', 'execution_id', 'fan_out_id'].filter((f) => required.includes(f));
      if (ids.length === 0) continue;
      const unknown = await call(name, Object.fromEntries(required.map((f) => [f, given[f]])));
      expect([name, unknown.isError], unknown.content[0]!.text).toEqual([name, true]);
      expect(JSON.parse(unknown.content[0]!.text).error, name).toMatchObject({ code: 'not_found', retryable: false });
    }
  });
});
