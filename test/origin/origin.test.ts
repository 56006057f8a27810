/** What the origin of this system promised, and the drills that came out of its incidents (1, 16, 17, 23), together. */
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Installation, install } from '../support/installation.ts';
import { verifies } from '../support/verifies.ts';

let drover: Installation;
const chat = (agent: string, message = 'x') => drover.api('POST', `/api/agents/${agent}/chat`, { message });
const add = (name: string, script: string, more: Record<string, unknown> = {}) =>
  drover.api('POST', '/api/agents', { name, adapter: 'command', command: ['sh', '-c', script], ...more });
const events = async () => (await drover.api('GET', '/api/subscriptions/events')).body;

beforeAll(async () => {
  drover = await install({ BACKEND_AGENT_CALL_LIMIT: '2', BACKEND_AGENT_CALL_QUEUE_TIMEOUT_S: '2' });
});
afterAll(() => drover?.end());

describe('the origin', () => {
  it('the happy path: a call answers with what the agent said', async () => {
    await add('happy', 'cat');
    const r = await chat('happy', 'hello there');
    expect(r.status).toBe(200);
    expect(r.body.response).toBe('hello there');
    expect(r.body.execution).toMatchObject({ was_queued: expect.any(Boolean) });
  });

  it(
    verifies(
      'D1',
      'R13',
    )('drill 1: fleet cap 2, queue budget 2 s, three calls: two hold, the third gets the exact text, /health answers'),
    async () => {
      await add('sleeper', 'sleep 300');
      const calls = [chat('sleeper'), chat('sleeper'), chat('sleeper')];
      const health = async () => (await fetch(`${drover.url}/health`)).status;
      const third = await Promise.race(calls.map((c) => c.then(async (r) => ({ r, health: await health() }))));
      expect(third.health).toBe(200);
      expect(third.r.status).toBe(503);
      const text = /^Backend call budget exhausted for sleeper after (\d+)ms \(agent_cap=3, global_cap=2\)$/;
      expect(third.r.body.detail).toMatch(text);
      const waited = Number(text.exec(third.r.body.detail)![1]);
      expect(waited).toBeGreaterThanOrEqual(2000);
      expect(waited).toBeLessThan(10_000);
      const failed = await drover.ended(third.r.headers.get('x-execution-id')!);
      expect(failed).toMatchObject({ cause: 'call_budget_exhausted', error: third.r.body.detail, started_at: null });
      expect(failed.wait_details.fleet_cap).toBeGreaterThan(0);
      const list = (await drover.api('GET', '/api/executions?status=running')).body;
      const running = (Array.isArray(list) ? list : list.executions).map((e: { id: string }) => e.id);
      expect(running).toHaveLength(2);
      for (const id of running) await drover.api('POST', `/api/agents/sleeper/executions/${id}/terminate`);
      await Promise.all(calls);
      expect(await events()).toEqual([]);
    },
  );

  it('the per-agent cap holds below the fleet cap', async () => {
    await add('single', 'sleep 300', { max_parallel_tasks: 1 });
    const first = (await drover.api('POST', '/api/agents/single/task', { message: 'x', async_mode: true })).body
      .execution_id;
    await drover.until(
      'the first runs',
      async () => (await drover.api('GET', `/api/executions/${first}`)).body,
      (e) => e.started_at !== null,
    );
    const r = await chat('single');
    expect(r.status).toBe(503);
    expect(r.body.detail).toMatch(/agent_cap=1, global_cap=2\)$/);
    await drover.api('POST', `/api/agents/single/executions/${first}/terminate`);
    expect((await drover.ended(first)).status).toBe('cancelled');
  });

  it(verifies('D4')('a slot is released on error'), async () => {
    await add('fails', 'exit 3', { max_parallel_tasks: 1 });
    for (let i = 0; i < 3; i++) expect((await chat('fails')).body.error.code).not.toBe('call_budget_exhausted');
  });

  it('an unknown agent is 404', async () => {
    expect((await chat('nobody')).status).toBe(404);
  });

  it(verifies('D16', 'R33')('drill 16: every way to die is typed, and none touches a credential'), async () => {
    const scripts: Record<string, [string, string]> = {
      sigkill: ['kill -KILL $$', 'killed_unknown'],
      sigterm: ['kill -TERM $$', 'killed_unknown'],
      sigint: ['kill -INT $$', 'killed_unknown'],
      sigsegv: ['kill -SEGV $$', 'crashed'],
      exit126: ['exit 126', 'spawn_not_executable'],
      exit127: ['exit 127', 'spawn_not_found'],
      exit0: ['true', 'success'],
    };
    const seen: Record<string, string> = {};
    for (const [name, [script]] of Object.entries(scripts)) {
      await add(`die-${name}`, script);
      const r = await chat(`die-${name}`);
      seen[name] = (await drover.ended(r.headers.get('x-execution-id')!)).cause;
    }
    expect(seen).toEqual(Object.fromEntries(Object.entries(scripts).map(([n, [, cause]]) => [n, cause])));
    await drover.api('POST', '/api/agents', { name: 'missing', adapter: 'command', command: ['/no/such/program'] });
    const missing = await chat('missing');
    const ended = await drover.ended(missing.headers.get('x-execution-id')!);
    expect(ended).toMatchObject({ cause: 'spawn_not_found', verdict: { confidence: 'proven' } });
    expect(ended.verdict.evidence.join()).toContain('/no/such/program');
    expect(await events()).toEqual([]);
  });

  it.skipIf(
    !existsSync('/sys/fs/cgroup/memory/memory.limit_in_bytes') && !existsSync('/sys/fs/cgroup/cgroup.controllers'),
  )(
    verifies('D17', 'R27', 'R42')('drill 17: a memory bomb is proven, with limit and peak, and one alert'),
    async () => {
      await add('bomb', "exec node -e 'const a=[];for(;;)a.push(Buffer.alloc(8<<20,1))'", {
        resources: { memory: '128m' },
      });
      const r = await chat('bomb');
      expect(r.status).toBe(504);
      const e = await drover.ended(r.headers.get('x-execution-id')!);
      expect(e).toMatchObject({ cause: 'oom_killed', verdict: { confidence: 'proven' } });
      expect(e.error).toContain('Killed by the kernel: out of memory, limit 128 MiB, peak');
      expect(e.attempts[0].memory).toMatchObject({
        oom_kills_before: 0,
        oom_kills_after: 1,
        limit_bytes: 128 * 1024 * 1024,
      });
      const items = (await drover.api('GET', '/api/operator-queue')).body;
      const about = (Array.isArray(items) ? items : items.items).filter(
        (i: { agent_name: string }) => i.agent_name === 'bomb',
      );
      expect(about).toHaveLength(1);
      expect(JSON.stringify(about[0])).toContain('resources.memory');
    },
  );
});
