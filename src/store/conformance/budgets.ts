/** Queue budgets: when they end, with which cause and text, and how the wait is told per reason (R12, R13). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { OpenEngine } from './engine.ts';
import { failed, type House, openHouse } from './house.ts';

export const budgetsConformance = (open: OpenEngine): void => {
  let h: House;
  const expire = () => h.write('expire_budgets', { limits: h.limits, max: 500 });
  beforeEach(async () => {
    h = await openHouse(open);
    await h.agent('a');
    await h.claim(0);
  });
  afterEach(() => h.end());

  describe('queue budgets', () => {
    it(
      verifies(
        'R13',
        'D1',
      )('fleet cap 2, budget 2 s: the third of three fails with the exact text, and blames no credential'),
      async () => {
        h.limits.agent_call_limit = 2;
        const rows = [];
        for (let i = 0; i < 3; i++) rows.push(await h.submit('a', { kind: 'chat' }, { queue_budget_ms: 2_000 }));
        expect(await h.claim(3)).toHaveLength(2);
        expect(await expire()).toEqual({ expired: [], next_expiry: h.now() + 2_000 });
        h.pass(2_000);
        const { result, stirred } = await h.written('expire_budgets', { limits: h.limits, max: 500 });
        expect(result).toEqual({ expired: [rows[2]!.id], next_expiry: null });
        expect(stirred.ended).toEqual([rows[2]!.id]);
        expect(await h.row(rows[2]!.id)).toMatchObject({
          status: 'failed',
          cause: 'call_budget_exhausted',
          error: 'Backend call budget exhausted for a after 2000ms (agent_cap=3, global_cap=2)',
          wait_details: { fleet_cap: 2_000 },
          queued_ms: 2_000,
          started_at: null,
          duration_ms: null,
        });
        expect(await h.status(rows[0]!.id)).toBe('running');
        expect(await h.read('credential_events', { limit: 9 })).toEqual([]);
      },
    );

    it(verifies('R12', 'D4')('a budget of 0 waits for ever'), async () => {
      const e = await h.submit('a', {}, { queue_budget_ms: null });
      h.pass(400 * 86_400_000);
      expect(await expire()).toEqual({ expired: [], next_expiry: null });
      expect(await h.status(e.id)).toBe('queued');
    });

    it(
      verifies('R12')('parked time does not spend the budget, and all queued time of a row counts as one'),
      async () => {
        const e = await h.submit('a', {}, { queue_budget_ms: 10_000 });
        h.pass(6_000);
        const c = await h.start();
        h.pass(60_000);
        await h.settle(c, { ...failed('overloaded'), decision: { kind: 'retry', after_ms: 30_000, why: 'x' } });
        h.pass(30_000);
        expect((await expire()).next_expiry).toBe(h.now() + 4_000);
        h.pass(3_999);
        expect((await expire()).expired).toEqual([]);
        h.pass(1);
        expect((await expire()).expired).toEqual([e.id]);
        expect(await h.row(e.id)).toMatchObject({
          queued_ms: 10_000,
          error: expect.stringContaining('waited 10000ms'),
        });
      },
    );

    it(verifies('R13')('another reason than a cap ends with its own cause'), async () => {
      const e = await h.submit('a', {}, { queue_budget_ms: 1_000 });
      await h.write('set_paused', { paused: true, by: 'user:1' });
      h.pass(1_000);
      await expire();
      expect(await h.row(e.id)).toMatchObject({ status: 'failed', cause: 'fleet_paused' });
      const f = await h.submit('a', {}, { queue_budget_ms: 100_000 });
      h.pass(100_000);
      await h.write('set_paused', { paused: false, by: 'user:1' });
      await expire();
      expect(await h.row(f.id)).toMatchObject({ cause: 'no_runner' });
    });

    it(
      verifies('R13')('tells the ms per reason: its session first, then what bound its lane, span by span'),
      async () => {
        h.limits.agent_call_limit = 1;
        await h.agent('other');
        const first = await h.submit('a', { kind: 'chat' });
        const run = await h.start();
        const e = await h.submit('a', { kind: 'chat', session_id: first.session_id }, { queue_budget_ms: 10_000 });
        h.pass(2_000);
        await h.settle(run);
        const blocker = await h.submit('other');
        expect((await h.claim(9)).map((c) => c.execution.id)).toEqual([blocker.id]);
        h.pass(3_000);
        await h.write('set_paused', { paused: true, by: 'user:1' });
        await expire();
        h.pass(5_000);
        expect((await expire()).expired).toEqual([e.id]);
        expect(await h.row(e.id)).toMatchObject({
          status: 'failed',
          cause: 'fleet_paused',
          wait_details: { session_busy: 2_000, fleet_cap: 3_000, fleet_paused: 5_000 },
        });
      },
    );

    it(
      verifies('R8')('a wall clock that jumps back an hour, or forward a day, ends nothing early or late'),
      async () => {
        const e = await h.submit('a', {}, { queue_budget_ms: 10_000 });
        h.jump(86_400_000);
        expect((await expire()).expired).toEqual([]);
        h.jump(-90_000_000);
        h.pass(10_000);
        expect((await expire()).expired).toEqual([e.id]);
      },
    );

    it(verifies('D35')('a row that cannot be healed stops no other'), async () => {
      const rows = [];
      for (let i = 0; i < 4; i++) rows.push(await h.submit('a', {}, { queue_budget_ms: 1_000 }));
      await h.engine.breakRow(rows[0]!.id);
      h.pass(40 * 86_400_000);
      expect((await expire()).expired).toEqual(rows.slice(1).map((r) => r.id));
      expect(await h.status(rows[0]!.id)).toBe('queued');
    });
  });
};
