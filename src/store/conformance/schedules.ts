/** Schedules: a tick is stored once with its execution, or not at all; an agent made again under a name inherits none. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { aSchedule } from '../../../test/support/rows.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { isRefusal } from '../../contract/errors.ts';
import type { ScheduleRow } from '../../contract/schedule.ts';
import type { OpenEngine } from './engine.ts';
import { type House, openHouse } from './house.ts';

export const schedulesConformance = (open: OpenEngine): void => {
  let h: House;
  let schedule: ScheduleRow;
  beforeEach(async () => {
    h = await openHouse(open);
    const agent = await h.agent('writer');
    schedule = aSchedule({ agent_id: agent.id, agent_name: agent.name });
    await h.write('create_schedule', { schedule });
  });
  afterEach(() => h.end());

  const tick = (fire_at: number, next: number | null = fire_at + 1_000) =>
    h.ask(
      'writer',
      { triggered_by: 'schedule' },
      {
        tick: {
          schedule_id: schedule.id,
          fire_at,
          expected: fire_at,
          next: next === null ? null : { fire_at: next, due_at: next },
        },
      },
    );
  const ticks = async () =>
    (await h.read('schedule_ticks', { schedule_id: schedule.id, limit: 50 })).map((t) => [
      t.fire_at,
      t.execution.status,
    ]);
  const code = (r: unknown) => (isRefusal(r) ? r.code : null);

  it(
    verifies('R43')('a tick is taken once: who comes second finds the schedule moved and stores nothing'),
    async () => {
      expect(code(await tick(1_000))).toBeNull();
      expect(code(await tick(1_000))).toBe('conflict');
      expect(await ticks()).toEqual([[1_000, 'queued']]);
      expect(await h.read('executions', { limit: 9 })).toHaveLength(1);
      expect(await h.read('schedule', { id: schedule.id })).toMatchObject({ next_fire_at: 2_000, last_fire_at: 1_000 });
    },
  );

  it(verifies('R43')('two servers at once: in one group of writes, one execution'), async () => {
    const order = () => ({
      verb: 'enqueue' as const,
      args: {
        ...h.enqueueArgs(
          'writer',
          {},
          {
            tick: { schedule_id: schedule.id, fire_at: 1_000, expected: 1_000, next: null },
          },
        ),
        now: h.now(),
        steady: h.now(),
      },
    });
    await h.engine.together([order(), order(), order()]);
    expect(await ticks()).toEqual([[1_000, 'queued']]);
  });

  it(
    verifies(
      'R6',
      'R43',
    )('while an earlier run goes a tick is born skipped, or stands behind it, as the schedule says'),
    async () => {
      await tick(1_000);
      await tick(2_000);
      expect(await ticks()).toEqual([
        [2_000, 'skipped'],
        [1_000, 'queued'],
      ]);
      const [skipped] = await h.read('schedule_ticks', { schedule_id: schedule.id, limit: 1 });
      expect(skipped!.execution).toMatchObject({ cause: null, error: expect.stringContaining('earlier run') });
      await h.write('update_schedule', { id: schedule.id, patch: { overlap: 'queue' } });
      await tick(3_000);
      expect((await ticks())[0]).toEqual([3_000, 'queued']);
      for (let i = 0; i < 2; i++) await h.settle(await h.start());
      await h.write('update_schedule', { id: schedule.id, patch: { overlap: 'skip' } });
      await tick(4_000);
      expect((await ticks())[0]).toEqual([4_000, 'queued']);
    },
  );

  it('what is refused stores nothing and moves nothing', async () => {
    const agent = await h.read('agent_by_name', { name: 'writer' });
    await h.write('update_agent', { id: agent!.id, patch: { desired_state: 'stopped' } });
    expect(code(await tick(1_000))).toBe('agent_stopped');
    expect(await ticks()).toEqual([]);
    expect((await h.read('schedule', { id: schedule.id }))!.next_fire_at).toBe(1_000);
  });

  it('skips are stored together with the schedule moved on, once', async () => {
    const args = {
      schedule_id: schedule.id,
      expected: 1_000,
      next: { fire_at: 3_000, due_at: 3_000 },
      timeout_s: 60,
      ticks: [1_000, 2_000].map((fire_at) => ({ fire_at, execution_id: h.id(), reason: 'missed' })),
    };
    expect(await h.write('skip_ticks', args)).toEqual({ moved: true });
    expect(await h.write('skip_ticks', args)).toEqual({ moved: false });
    expect(await ticks()).toEqual([
      [2_000, 'skipped'],
      [1_000, 'skipped'],
    ]);
  });

  it('by hand it runs whatever its state and moves nothing; two in one ms have places of their own', async () => {
    await h.write('update_schedule', {
      id: schedule.id,
      patch: { enabled: false, next_fire_at: null, next_due_at: null },
    });
    const byHand = () =>
      h.ask('writer', {}, { tick: { schedule_id: schedule.id, fire_at: 5_000, expected: null, next: null } });
    await byHand();
    await byHand();
    expect((await ticks()).map(([at]) => at)).toEqual([5_001, 5_000]);
    expect(await h.read('schedule', { id: schedule.id })).toMatchObject({ next_fire_at: null });
  });

  it('says what is due and when the next one is', async () => {
    const { agent_id, agent_name } = schedule;
    const later = aSchedule({ id: 'b', name: 'b', agent_id, agent_name, next_fire_at: 9_000, next_due_at: 9_000 });
    await h.write('create_schedule', { schedule: later });
    const { due, next } = await h.read('due_schedules', { now: 1_000, limit: 10 });
    expect([due.map((s) => s.id), next]).toEqual([[schedule.id], 9_000]);
  });

  it(
    verifies('D36')('go with their agent: one made again under its name has none, and names are its own'),
    async () => {
      const agent = await h.read('agent_by_name', { name: 'writer' });
      expect(code(await h.write('create_schedule', { schedule: { ...schedule, id: 'x' } }))).toBe('duplicate');
      await h.write('delete_agent', { id: agent!.id, by: 'user:1' });
      const again = await h.agent('writer');
      expect(await h.read('schedules', { agent_id: again.id })).toEqual([]);
      expect(await h.read('due_schedules', { now: h.now(), limit: 10 })).toEqual({ due: [], next: null });
      expect(code(await h.write('create_schedule', { schedule }))).toBe('not_found');
    },
  );

  it('its ticks go with the executions they were', async () => {
    await tick(1_000);
    await h.settle(await h.start());
    await h.write('delete_schedule', { id: schedule.id });
    expect(await ticks()).toEqual([[1_000, 'success']]);
    h.pass(10);
    await h.write('retain', { events_before: 0, executions_before: h.now(), max: 50 });
    expect(await ticks()).toEqual([]);
  });
};
