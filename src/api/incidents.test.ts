/** Weather through the real routes: what the CLI's own 529 leads to, from the stream to the incident (R40). */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Fleet, openFleet } from '../../test/support/fleet.ts';
import { verifies } from '../../test/support/verifies.ts';
import { weatherLimits } from '../contract/weather.ts';
import { createReader } from '../evidence/create.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet();
});
afterEach(() => fleet.end());

/** What Claude Code 2.1 says last when the provider stayed overloaded through its own retries. */
const stormy = () => {
  const reader = createReader('claude');
  const lines = [
    { type: 'system', subtype: 'init', session_id: 's1', model: 'claude-sonnet-4', apiKeySource: 'none' },
    {
      type: 'assistant',
      session_id: 's1',
      error: 'overloaded',
      is_api_error_message: true,
      api_error_status: 529,
      message: { model: '<synthetic>', content: [{ type: 'text', text: 'API Error: 529 Overloaded' }] },
    },
    {
      type: 'result',
      subtype: 'success',
      is_error: true,
      api_error_status: 529,
      result: 'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
      session_id: 's1',
      num_turns: 1,
      total_cost_usd: 0,
    },
  ];
  for (const line of lines) reader.line('stdout', JSON.stringify(line), null);
  return { exit_code: 1, stream: reader.facts() };
};
const queue = async (agent: string): Promise<string> =>
  (await fleet.api('POST', `/api/agents/${agent}/task`, { message: 'go', async_mode: true })).body.execution_id;
const incidents = async () => (await fleet.api('GET', '/api/incidents')).body;

it(
  verifies('R40')('two agents meet a 529: one incident, their work waits and is the probe, and all of it ends well'),
  async () => {
    for (const name of ['one', 'two', 'three']) await fleet.agent(name, { adapter: 'claude' });
    const ids = [await queue('one'), await queue('two')];
    for (const work of await fleet.runner.claim()) {
      await fleet.runner.begin(work);
      expect(await fleet.runner.finish(work, stormy())).toBe('settled');
    }
    expect(await incidents()).toMatchObject({
      open: 1,
      incidents: [{ provider: 'anthropic', state: 'open', cause: 'overloaded', agents: ['one', 'two'], failures: 2 }],
    });
    const { id } = (await incidents()).incidents[0];
    expect((await fleet.api('GET', `/api/incidents/${id}`)).body).toMatchObject({ id });
    expect((await fleet.api('GET', '/api/incidents/nothing')).status).toBe(404);
    const third = await queue('three');
    expect((await fleet.row(third)).wait).toMatchObject({ reason: 'provider_paused', until: expect.any(String) });
    expect((await fleet.api('GET', '/metrics')).text).toContain('drover_incidents{state="open"} 1');
    const { body: items } = await fleet.api('GET', '/api/operator-queue');
    expect(items).toMatchObject([
      { kind: 'alert', priority: 'high', title: 'anthropic: the provider is overloaded, for 2 agents' },
    ]);

    // The first waits for its ordinary retry, which then is one of those that wait for the weather.
    const done: string[] = [];
    const next = Date.parse((await incidents()).incidents[0].next_at);
    await fleet.clock.advance(next - fleet.clock.now());
    for (let starts = 0; starts < 3; starts++) {
      const works = await fleet.runner.claim();
      expect(works).toHaveLength(1);
      await fleet.runner.run(works[0]!);
      done.push(works[0]!.execution_id);
      await fleet.clock.advance(weatherLimits.paceMs);
    }
    expect(done.sort()).toEqual([...ids, third].sort());
    await fleet.until(
      async () => {
        await fleet.clock.advance(1_000);
        return incidents();
      },
      (seen) => seen.open === 0,
    );
    expect(await incidents()).toMatchObject({ open: 0, incidents: [{ state: 'closed', probes: 1 }] });
    expect((await fleet.api('GET', '/api/operator-queue?status=pending')).body).toEqual([]);
    for (const execution of done) expect((await fleet.row(execution)).status).toBe('success');
  },
);

it(verifies('R16')('a provider is paused and resumed by hand, by its name or its origin'), async () => {
  await fleet.agent('one', { adapter: 'claude' });
  await fleet.agent('gate', { adapter: 'claude', env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9/x' } });
  const origin = encodeURIComponent('http://127.0.0.1:9');
  expect((await fleet.api('POST', `/api/providers/${origin}/pause`)).body).toEqual({
    provider: 'http://127.0.0.1:9',
    paused: true,
  });
  const held = await queue('gate');
  expect((await fleet.row(held)).wait.reason).toBe('provider_paused');
  const free = await queue('one');
  expect((await fleet.runner.claim()).map((w) => w.execution_id)).toEqual([free]);
  expect((await fleet.api('GET', '/api/providers')).body.providers).toMatchObject([
    { provider: 'anthropic', paused: false, running: 1 },
    { provider: 'http://127.0.0.1:9', paused: true, paused_by: expect.any(String), agents: ['gate'] },
  ]);
  expect((await fleet.api('POST', '/api/providers/nowhere/pause')).status).toBe(404);
  await fleet.api('POST', `/api/providers/${origin}/resume`);
  expect((await fleet.runner.claim()).map((w) => w.execution_id)).toEqual([held]);
  expect((await fleet.api('GET', '/api/audit')).text).toContain('provider.pause');
});
