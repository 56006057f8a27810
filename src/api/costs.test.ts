/** Money through the real routes: costs as they are asked for, budgets that hold and let go (R41). */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Fleet, openFleet } from '../../test/support/fleet.ts';
import { verifies } from '../../test/support/verifies.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet();
});
afterEach(() => fleet.end());

const queue = async (agent: string): Promise<string> =>
  (await fleet.api('POST', `/api/agents/${agent}/task`, { message: 'go', async_mode: true })).body.execution_id;
const run = async (agent: string, cost_usd: number | null, stream = {}) => {
  await queue(agent);
  const [work] = await fleet.runner.claim();
  await fleet.runner.begin(work!);
  await fleet.runner.finish(work!, { stream: { cli: 'claude', cost_usd, ...stream } });
};

it(verifies('R41')('costs are grouped, totalled, and given to a spreadsheet; a killed run is estimated'), async () => {
  const made = await fleet.api('POST', '/api/agents', {
    name: 'writer',
    adapter: 'claude',
    tags: ['web', 'web', 'team'],
  });
  expect(made.status).toBe(201);
  expect((await fleet.api('GET', '/api/agents/writer')).body.tags).toEqual(['team', 'web']);
  await fleet.api('POST', '/api/subscriptions', { name: 'key', kind: 'anthropic_api_key', token: 'sk-ant-api03-x' });
  await run('writer', 0.5, { model: 'claude-sonnet-5' });
  const usage = { input_tokens: 0, output_tokens: 10_000, cache_read_tokens: 0, cache_write_tokens: 0 };
  await run('writer', null, { model: 'claude-sonnet-5', usage });
  await run('writer', null, { model: 'a-model-of-tomorrow', usage });
  const { body } = await fleet.api('GET', '/api/costs?group_by=agent,model');
  expect(body.costs).toMatchObject([
    { agent: 'writer', model: 'claude-sonnet-5', runs: 2, cost_usd: 0.6, estimated_usd: 0.1, cost_kind: 'billed' },
    { agent: 'writer', model: 'a-model-of-tomorrow', runs: 1, unpriced_runs: 1, cost_usd: 0 },
  ]);
  expect(body.total).toMatchObject({ runs: 3, cost_usd: 0.6, billed_usd: 0.6 });
  expect(
    (await fleet.api('GET', '/api/costs?group_by=tag')).body.costs.map((c: { tag: string }) => c.tag).sort(),
  ).toEqual(['team', 'web']);
  const csv = await fleet.api('GET', '/api/costs?group_by=credential&format=csv');
  expect(csv.headers['content-type']).toContain('text/csv');
  expect(csv.text.split('\r\n')[1]).toBe('key,3,1,0.6,billed,0.6,0,0,0.1,0,20000');
  expect((await fleet.api('GET', '/api/ops/costs')).body).toMatchObject({
    today: { cost_usd: 0.6 },
    month: { cost_usd: 0.6 },
    agents: [{ agent: 'writer' }],
  });
  const wrong = await fleet.api('GET', '/api/costs?group_by=moon');
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('there are agent, model')]);
  expect((await fleet.api('GET', '/api/costs?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z')).status).toBe(422);
  const zone = await fleet.api('PUT', '/api/settings/timezone', { value: 'Mars/Base' });
  expect([zone.status, zone.text]).toEqual([422, expect.stringContaining('Europe/Berlin')]);
  expect((await fleet.api('PUT', '/api/settings/timezone', { value: 'Asia/Tokyo' })).status).toBe(200);
  expect((await fleet.api('GET', '/api/costs')).body.timezone).toBe('Asia/Tokyo');
});

it(verifies('R41')('a budget holds new work with its reason, and raised it lets it go'), async () => {
  await fleet.agent('writer', { adapter: 'claude' });
  await run('writer', 2);
  const put = (body: object) => fleet.api('PUT', '/api/budgets', body);
  expect((await put({ agent_name: 'writer', limit_usd: 1 })).body.budgets).toMatchObject([
    { agent_name: 'writer', period: 'day', limit_usd: 1, spent_usd: 2, left_usd: 0, used: 2 },
  ]);
  const held = await queue('writer');
  expect((await fleet.row(held)).wait).toMatchObject({ reason: 'budget_spent', until: expect.any(String) });
  expect((await fleet.api('GET', '/api/operator-queue')).body).toMatchObject([
    { priority: 'high', agent_name: 'writer' },
  ]);
  const poll = fleet.runner.claim();
  expect((await put({ agent_name: 'writer', limit_usd: 100 })).status).toBe(200);
  expect((await poll).map((w) => w.execution_id)).toEqual([held]);
  expect((await fleet.api('GET', '/api/budgets')).body.budgets[0]).toMatchObject({ reserved_usd: 2, left_usd: 96 });
  expect((await put({ agent_name: 'writer', limit_usd: null })).body.budgets).toEqual([]);
  for (const bad of [{ limit_usd: 0 }, { limit_usd: -1 }, { limit_usd: 'x' }, { limit_usd: 1, period: 'week' }, {}])
    expect((await put(bad)).status).toBe(422);
  expect((await put({ agent_name: 'nobody', limit_usd: 1 })).status).toBe(404);
});

it(verifies('R42')('the morning report is there at any time, and its settings are checked'), async () => {
  await fleet.agent('writer', { adapter: 'claude' });
  await run('writer', 2);
  const { body } = await fleet.api('GET', '/api/morning');
  expect(body).toMatchObject({ happened: { ended: 1 }, cost: { total_usd: 2 }, needs_you: [] });
  expect(body.text).toContain('What was saved');
  const later = new Date(fleet.clock.now() + 1_000).toISOString();
  expect((await fleet.api('GET', `/api/morning?since=${later}`)).body.happened.ended).toBe(0);
  expect((await fleet.api('GET', '/api/morning?since=yesterday')).status).toBe(422);
  const at = (value: string) => fleet.api('PUT', '/api/settings/morning_report_at', { value });
  for (const bad of ['7', '24:00', '07:60', 'seven']) expect((await at(bad)).status).toBe(422);
  for (const good of ['06:30', 'off']) expect((await at(good)).status).toBe(200);
});
