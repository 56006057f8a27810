/** A provider that answers 529 to the real Claude Code CLI, and then does not: an incident, its probes, and nothing lost (R40). */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ModelApi, startModelApi } from '../model-api/server.ts';
import { claudeBin, type Installation, install } from '../support/installation.ts';
import { verifies } from '../support/verifies.ts';

let drover: Installation;
let provider: ModelApi;

beforeAll(async () => {
  provider = await startModelApi();
  drover = await install();
  const stored = await drover.api('POST', '/api/subscriptions', {
    name: 'key',
    kind: 'anthropic_api_key',
    token: 'sk-ant-planted-secret',
  });
  expect(stored.status).toBe(201);
  for (const name of ['one', 'two']) {
    const made = await drover.api('POST', '/api/agents', {
      name,
      executable: claudeBin,
      model: 'claude-sonnet-4-5',
      tags: ['night'],
      // Its own retries would take minutes.
      env: { ANTHROPIC_BASE_URL: provider.url, CLAUDE_CODE_MAX_RETRIES: '0' },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
  }
});
afterAll(async () => {
  await drover?.end();
  await provider?.close();
});

const start = async (agent: string): Promise<string> =>
  (await drover.api('POST', `/api/agents/${agent}/task`, { message: 'hello', async_mode: true })).body.execution_id;
const incidents = async () => (await drover.api('GET', '/api/incidents')).body;
const spawns = () => provider.requests.filter((r) => r.mode === '529').length;

it(
  verifies('R40', 'R36')('holds up work for a provider that answers 529, blames no login, and finishes all of it'),
  async () => {
    provider.mode = '529';
    const ids = [await start('one'), await start('two')];
    const open = await drover.until('an incident is open', incidents, (seen) => seen.open === 1);
    expect(open.incidents[0]).toMatchObject({ state: 'open', cause: 'overloaded', agents: ['one', 'two'] });
    const { provider: name } = open.incidents[0];
    expect(name).toBe(new URL(provider.url).origin);
    const third = await start('one');
    await drover.until(
      'it waits for the provider',
      async () => (await drover.api('GET', `/api/executions/${third}`)).body,
      (e) => e.wait?.reason === 'provider_paused',
    );
    const items = (await drover.api('GET', '/api/operator-queue')).body;
    expect(items).toMatchObject([
      { kind: 'alert', agent_name: null, title: expect.stringContaining('overloaded, for 2 agents') },
    ]);
    expect((await drover.api('GET', '/api/subscriptions')).body).toMatchObject([{ name: 'key' }]);
    expect((await drover.api('GET', '/api/subscriptions/events')).body).toEqual([]);

    // A probe that meets the same again: one more process, and no more.
    const before = spawns();
    const probeNow = () => drover.api('POST', `/api/providers/${encodeURIComponent(name)}/resume`);
    await probeNow();
    await drover.until('a probe has failed', incidents, (seen) => seen.incidents[0].failures === 3);
    expect(spawns()).toBe(before + 1);
    expect((await incidents()).incidents[0]).toMatchObject({ state: 'open', probes: 1 });

    provider.mode = 'ok';
    await probeNow();
    for (const id of [...ids, third])
      expect(await drover.ended(id)).toMatchObject({ status: 'success', cause: 'success' });
    const [seen] = (await incidents()).incidents;
    expect(['reopening', 'closed']).toContain(seen.state);
    const morning = (await drover.api('GET', '/api/morning')).body;
    expect(morning).toMatchObject({ happened: { good: 3, failed: 0, incidents: [{ failures: 3 }] } });
    expect(morning.saved.parked).toBeGreaterThanOrEqual(2);
    const costs = (await drover.api('GET', '/api/costs?group_by=tag')).body;
    expect(costs.costs).toMatchObject([{ tag: 'night', cost_kind: 'billed' }]);
  },
);
