/** Schedules through the real routes, with a clock of the test's own: made, refused, ticking, held, missed, run by hand. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fleet, openFleet } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet();
  await fleet.agent('writer');
});
afterEach(() => fleet.end());

const at = '/api/agents/writer/schedules';
const minute = 60_000;
const body = { name: 'nightly', cron_expression: '* * * * *', message: 'tidy up' };
const make = async (over: object = {}) => (await fleet.api('POST', at, { ...body, ...over })).body;
const ticksOf = async (id: string): Promise<{ id: string; status: string; fire_at: string; error: string | null }[]> =>
  (await fleet.api('GET', `${at}/${id}/executions`)).body;
/** Waits until there are `n`; the ticker may set its timer after an advance, so time goes on by a ms at each look. */
const ticksWhen = (id: string, n: number) =>
  fleet.until(
    async () => {
      await fleet.clock.advance(1);
      return ticksOf(id);
    },
    (t) => t.length >= n,
  );
/** Advances to the next full minute and waits until the tick has a row. */
const nextTick = async (id: string, n: number) => {
  await fleet.clock.advance(minute - (fleet.clock.now() % minute));
  return ticksWhen(id, n);
};

describe('a schedule', () => {
  it('is made, shown, changed, switched and deleted', async () => {
    const made = await fleet.api('POST', at, { ...body, timezone: 'Europe/Berlin', description: 'every minute' });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      agent_name: 'writer',
      enabled: true,
      overlap: 'skip',
      catch_up: 'none',
      timezone: 'Europe/Berlin',
      last_run_at: null,
    });
    expect(Date.parse(made.body.next_run_at)).toBeGreaterThan(fleet.clock.now());
    const one = `${at}/${made.body.id}`;
    expect((await fleet.api('GET', at)).body).toEqual([made.body]);
    expect((await fleet.api('GET', '/api/schedules')).body).toEqual([made.body]);
    expect((await fleet.api('GET', one)).body).toEqual(made.body);

    const changed = await fleet.api('PUT', one, { cron_expression: '0 3 * * *', catch_up: 'once' });
    expect(changed.body).toMatchObject({ cron_expression: '0 3 * * *', catch_up: 'once', message: 'tidy up' });
    // 03:00 in Berlin is 01:00 UTC in October.
    expect(changed.body.next_run_at).toContain('T01:00:00.000Z');
    expect((await fleet.api('POST', `${one}/disable`)).body).toMatchObject({ enabled: false, next_run_at: null });
    expect((await fleet.api('POST', `${one}/enable`)).body).toMatchObject({ enabled: true, status: 'enabled' });
    const deleted = await fleet.api('DELETE', one);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await fleet.api('GET', one)).status).toBe(404);
    const actions = (await fleet.api('GET', '/api/audit')).body.map((a: { action: string }) => a.action);
    expect(actions).toEqual(expect.arrayContaining(['schedule.create', 'schedule.change', 'schedule.delete']));
  });

  it('is refused with the name of what is wrong, and nothing is stored', async () => {
    const field = async (over: object) => {
      const { status, body: b } = await fleet.api('POST', at, { ...body, ...over });
      expect([status, b.error.code]).toEqual([422, 'invalid']);
      return b.error.message as string;
    };
    expect(await field({ cron_expression: 'every day' })).toContain('cron_expression');
    expect(await field({ cron_expression: '99 * * * *' })).toContain('cron_expression');
    expect(await field({ cron_expression: undefined })).toContain('cron_expression');
    expect(await field({ timezone: 'Mars/Olympus' })).toContain('timezone');
    expect(await field({ message: ' ' })).toContain('message');
    expect(await field({ overlap: 'both' })).toContain('overlap');
    expect(await field({ timeout_seconds: 1 })).toContain('timeout_seconds');
    expect((await fleet.api('GET', at)).body).toEqual([]);
    const made = await make();
    expect((await fleet.api('POST', at, body)).status).toBe(409);
    expect((await fleet.api('PUT', `${at}/${made.id}`, { cron_expression: 'x' })).status).toBe(422);
    expect((await fleet.api('GET', `${at}/${made.id}`)).body.cron_expression).toBe('* * * * *');
    await fleet.agent('other');
    expect((await fleet.api('GET', `/api/agents/other/schedules/${made.id}`)).status).toBe(404);
    expect((await fleet.api('GET', '/api/agents/nobody/schedules')).status).toBe(404);
  });

  it('shows when it will fire before it is stored, and after', async () => {
    const asked = { cron_expression: '30 2 * * *', timezone: 'Europe/Berlin', count: 3 };
    const preview = await fleet.api('POST', '/api/schedules/preview', asked);
    expect(preview.body.times).toHaveLength(3);
    expect(preview.body.times[0].fire_at).toBe('2025-10-10T00:30:00.000Z');
    expect(preview.body.times[0].local).toContain('2025-10-10 02:30:00');
    const { id } = await make({ enabled: false });
    const times = (await fleet.api('GET', `${at}/${id}/preview?count=2`)).body;
    expect(times).toMatchObject({ enabled: false, schedule_id: id });
    expect(times.times).toHaveLength(2);
    expect((await fleet.api('POST', '/api/schedules/preview', { cron_expression: 'x' })).status).toBe(422);
  });
});

describe('a tick', () => {
  it(verifies('R43', 'R4')('is an execution like any other, and shows which tick it is'), async () => {
    const { id } = await make({ max_retries: 0, timeout_seconds: 120 });
    const [tick] = await nextTick(id, 1);
    expect(tick).toMatchObject({
      status: 'queued',
      triggered_by: 'schedule',
      message: 'tidy up',
      timeout_seconds: 120,
      max_retries: 0,
      by_hand: false,
    });
    const [work] = await fleet.runner.claim(1);
    expect(work).toMatchObject({ message: 'tidy up', execution_id: tick!.id });
    await fleet.runner.run(work!, 'tidied');
    const row = await fleet.row(tick!.id);
    expect(row).toMatchObject({
      status: 'success',
      response: 'tidied',
      schedule: { id, name: 'nightly', fire_at: tick!.fire_at },
    });
    expect((await fleet.api('GET', `${at}/${id}`)).body.last_run_at).toBe(tick!.fire_at);
  });

  it(verifies('R43')('while the one before goes is skipped, and says so'), async () => {
    const { id } = await make();
    await nextTick(id, 1);
    const [second] = await nextTick(id, 2);
    expect(second).toMatchObject({ status: 'skipped', error: expect.stringContaining('earlier run') });
    expect((await fleet.api('GET', '/api/executions?status=skipped')).body.executions[0].id).toBe(second!.id);
  });

  it('of a stopped agent is skipped with the reason, and the schedule goes on', async () => {
    const { id } = await make();
    await fleet.api('POST', '/api/agents/writer/stop');
    const [tick] = await nextTick(id, 1);
    expect(tick).toMatchObject({ status: 'skipped', error: expect.stringContaining('is stopped') });
    await fleet.api('POST', '/api/agents/writer/start');
    expect((await nextTick(id, 2))[0]).toMatchObject({ status: 'queued' });
  });

  it('does not come while all schedules are held: it is skipped, and they go on after', async () => {
    const { id } = await make();
    expect((await fleet.api('POST', '/api/ops/schedules/pause')).body).toMatchObject({ paused: true, schedules: 1 });
    expect((await nextTick(id, 1))[0]).toMatchObject({ status: 'skipped', error: expect.stringContaining('paused') });
    expect((await fleet.api('GET', '/api/ops/schedules')).body).toMatchObject({ paused: true, enabled: 1 });
    await fleet.api('POST', '/api/ops/schedules/resume');
    expect((await nextTick(id, 2))[0]).toMatchObject({ status: 'queued' });
  });

  it('is not made by a disabled schedule; by hand it runs at once and its next tick stays', async () => {
    const { id } = await make({ enabled: false });
    const given = await fleet.api('POST', `${at}/${id}/trigger`);
    expect(given.body).toEqual({ status: 'triggered', schedule_id: id, execution_id: expect.any(String) });
    await fleet.clock.advance(3 * minute);
    const ticks = await ticksOf(id);
    expect(ticks).toEqual([expect.objectContaining({ id: given.body.execution_id, by_hand: true })]);
    expect((await fleet.api('POST', `${at}/none/trigger`)).status).toBe(404);
  });

  it(verifies('D34', 'R43')('that passed while no server looked is one row, by the stated policy'), async () => {
    const policies = ['none', 'once', 'all'] as const;
    const made = new Map<string, string>();
    for (const catch_up of policies)
      made.set(catch_up, (await make({ name: catch_up, catch_up, overlap: 'queue', cron_expression: '0 * * * *' })).id);
    // Three hours go by at once: what a server sees that was away.
    const start = fleet.clock.now();
    fleet.clock.jump(3 * 60 * minute);
    await fleet.clock.advance(30_000);
    const hours = Math.floor((fleet.clock.now() - 1) / 3_600_000) - Math.floor(start / 3_600_000);
    expect(hours).toBe(3);
    const statuses = async (policy: string) => (await ticksWhen(made.get(policy)!, hours)).map((t) => t.status);
    expect(await statuses('none')).toEqual(['skipped', 'skipped', 'skipped']);
    expect(await statuses('once')).toEqual(['queued', 'skipped', 'skipped']);
    expect(await statuses('all')).toEqual(['queued', 'queued', 'queued']);
  });

  it(verifies('D35')('comes once although the clock jumps back an hour over it'), async () => {
    const { id } = await make({ overlap: 'queue', cron_expression: '0 * * * *' });
    const untilHour = 60 * minute - (fleet.clock.now() % (60 * minute));
    await fleet.clock.advance(untilHour);
    const [first] = await ticksWhen(id, 1);
    fleet.clock.jump(-60 * minute);
    await fleet.clock.advance(60 * minute);
    expect(await ticksOf(id)).toEqual([expect.objectContaining({ id: first!.id })]);
  });
});

describe('through MCP', () => {
  const call = (name: string, args: object) =>
    fleet.api(
      'POST',
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
      { accept: 'application/json, text/event-stream' },
    );
  it('schedules are made and listed, and a bad pattern is told to the agent', async () => {
    const made = await call('create_schedule', { agent_name: 'writer', ...body });
    expect(made.text).toContain('nightly');
    expect((await call('list_schedules', { agent_name: 'writer' })).text).toContain('nightly');
    const bad = await call('create_schedule', { agent_name: 'writer', ...body, name: 'b', cron_expression: 'x' });
    expect(bad.text).toContain('isError');
    expect(bad.text).toContain('cron_expression');
  });
});
