/** Money (R41): each attempt's cost is a row; budgets hold new work before they are overrun, and tell of it at their edges. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { moneyLimits } from '../../contract/money.ts';
import type { OpenEngine } from './engine.ts';
import { failed, type House, openHouse } from './house.ts';

const day = 86_400_000;

export const moneyConformance = (open: OpenEngine): void => {
  let h: House;
  let id: string;
  beforeEach(async () => {
    h = await openHouse(open);
    id = (await h.agent('a', { tags: ['team', 'web'], max_parallel_tasks: 9 })).id;
    await h.agent('b', { max_parallel_tasks: 9 });
    await h.write('put_setting', { key: 'timezone', value: 'UTC' });
    await h.claim(0);
  });
  afterEach(() => h.end());

  const cost = (cost_usd: number, over = {}) => ({ cost_usd, cost_kind: 'billed' as const, ...over });
  const run = async (usd: number, agent = 'a', over = {}) => {
    await h.submit(agent);
    await h.settle(await h.start(), { ...cost(usd), ...over });
  };
  const budget = (limit_usd: number | null, over: { agent_id?: string | null; period?: 'day' | 'month' } = {}) =>
    h.write('put_budget', { agent_id: id, period: 'day', limit_usd, by: 'user:1', ...over });
  const items = async () =>
    (await h.read('operator_items', { status: 'open', limit: 9 })).filter((i) => i.dedup_key.startsWith('budget:'));

  describe('costs', () => {
    it(
      verifies('R41')('are rows of attempts, failed ones and late ones too, with their tags, model and login'),
      async () => {
        await h.credential('key', { kind: 'anthropic_api_key' });
        await h.agent('c', { adapter: 'claude', tags: ['x'] });
        await h.submit('c', {}, { max_retries: 1 });
        const first = await h.start();
        const usage = { input_tokens: 1, output_tokens: 2, cache_read_tokens: 30, cache_write_tokens: 4 };
        await h.settle(first, {
          ...failed('overloaded'),
          ...cost(0.5, { cost_estimated: true }),
          facts: { stream: { model: 'm', usage } },
          decision: { kind: 'retry', after_ms: 0, why: 'again' },
        });
        await h.settle(await h.start(), { facts: { stream: { usage } } });
        await run(0.25);
        const all = await h.read('costs', { from: 0, to: h.now() + 1 });
        expect(all.sort((x, y) => y.cost_usd - x.cost_usd)).toMatchObject([
          {
            agent_name: 'c',
            credential_name: 'key',
            model: 'm',
            tags: ['x'],
            estimated: true,
            cost_usd: 0.5,
            input_tokens: 35,
          },
          { agent_name: 'a', credential_name: null, tags: ['team', 'web'], cost_usd: 0.25, unpriced: 0 },
          { agent_name: 'c', cost_usd: 0, cost_kind: 'unknown', runs: 1, unpriced: 1, output_tokens: 2 },
        ]);
        expect(await h.read('costs', { from: h.now() + 1, to: h.now() + day })).toEqual([]);
      },
    );

    it('outlive their executions, and go after their own time', async () => {
      await run(1);
      h.pass(40 * day);
      const retain = () => h.write('retain', { events_before: 0, executions_before: h.now() - 30 * day, max: 99 });
      await retain();
      expect(await h.read('executions', { limit: 9 })).toEqual([]);
      expect(await h.read('costs', { from: 0, to: h.now() })).toHaveLength(1);
      h.pass(moneyLimits.keepMs);
      await retain();
      expect(await h.read('costs', { from: 0, to: h.now() })).toEqual([]);
    });
  });

  describe('a spending budget', () => {
    it(
      verifies('R41', 'R9')('holds what the p90 of the last runs says would not fit, and what runs counts with it'),
      async () => {
        for (let i = 0; i < 10; i++) await run(i < 9 ? 1 : 9);
        // p90 of nine ones and a nine is 1: 19 spent... in the day.
        await budget(21.5);
        for (let i = 0; i < 4; i++) await h.submit('a');
        const live = await h.claim(9);
        expect(live).toHaveLength(3);
        const [b] = await h.read('budgets', {});
        expect(b).toMatchObject({ agent_name: 'a', spent_usd: 18, reserved_usd: 3, expected_usd: 1, limit_usd: 21.5 });
        const waiting = (await h.read('executions', { status: ['queued'], limit: 9 }))[0]!;
        expect(await h.reason(waiting.id)).toBe('budget_spent');
        // Only reserved so far: that is no news.
        expect(await items()).toMatchObject([{ priority: 'normal' }]);
        await h.begin(live[0]!);
        await h.settle(live[0]!, cost(0.1));
        expect(await h.claim(9)).toHaveLength(1);
      },
    );

    it(verifies('R41')('raised, it lets go what waits at the next claim; without one nothing is held'), async () => {
      await run(2);
      await budget(1);
      const e = await h.submit('a');
      const other = await h.submit('b');
      expect((await h.claim(9)).map((c) => c.execution.id)).toEqual([other.id]);
      expect(await items()).toMatchObject([
        { agent_name: 'a', priority: 'high', title: expect.stringContaining('used up') },
      ]);
      expect(
        (await h.written('put_budget', { agent_id: id, period: 'day', limit_usd: 10, by: 'x' })).stirred.claimable,
      ).toBe(true);
      expect(await items()).toEqual([]);
      expect((await h.claim(9)).map((c) => c.execution.id)).toEqual([e.id]);
      await budget(null);
      expect(await h.read('budgets', {})).toEqual([]);
    });

    it(
      verifies('R41', 'R42')('tells at 80 % and at its limit, as one item that gets worse, and closes with its day'),
      async () => {
        await budget(10);
        for (const usd of [2, 2, 2, 1]) await run(usd);
        expect(await items()).toEqual([]);
        await run(1);
        expect(await items()).toMatchObject([{ priority: 'normal', title: expect.stringContaining('80 %'), count: 1 }]);
        await run(0.5);
        expect(await items()).toMatchObject([{ priority: 'normal', count: 1 }]);
        // The next may cost 2, and 1.50 is left: said when it is wanted.
        const e = await h.submit('a');
        expect(await h.claim(9)).toEqual([]);
        expect(await items()).toMatchObject([
          { priority: 'high', count: 2, evidence: [expect.stringContaining('$2.00'), expect.any(String)] },
        ]);
        const until = (await h.read('waits', { execution_ids: [e.id], limits: h.limits }))[e.id]!.until!;
        expect(until % day).toBe(0);
        h.pass(until - h.now());
        await h.write('expire_budgets', { limits: h.limits, max: 9 });
        expect(await items()).toEqual([]);
        expect(await h.claim(9)).toHaveLength(1);
      },
    );

    it(
      verifies('R41')('of the fleet is over all of it, beside each agent’s own, and holds nested work too'),
      async () => {
        await run(3, 'b');
        await budget(100);
        await budget(4, { agent_id: null, period: 'month' });
        await h.submit('a');
        const parent = await h.start();
        const child = await h.call(parent, 'b');
        const root = await h.submit('b');
        expect(await h.claim(9)).toEqual([]);
        for (const e of [child, root]) expect(await h.reason(e.id)).toBe('budget_spent');
        expect((await h.read('budgets', {})).map((b) => [b.agent_name, b.period])).toEqual([
          [null, 'month'],
          ['a', 'day'],
        ]);
        expect(await budget(1, { agent_id: 'nobody' })).toMatchObject({ refused: true });
      },
    );

    it('goes with its agent', async () => {
      await budget(5);
      await h.write('delete_agent', { id, by: 'x' });
      expect(await h.read('budgets', {})).toEqual([]);
    });
  });
};
