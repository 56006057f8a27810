/** Operator items: one per episode, bounded, closed when their cause is over; questions, answers on their way, notifications (R42). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { isRefusal } from '../../contract/errors.ts';
import { itemLimits, type NewOperatorItem } from '../../contract/operator.ts';
import type { OpenEngine } from './engine.ts';
import { failed, type House, leaseMs, openHouse } from './house.ts';

const hour = 3_600_000;
const day = 24 * hour;

export const operatorConformance = (open: OpenEngine): void => {
  let h: House;
  beforeEach(async () => {
    h = await openHouse(open);
    await h.agent('a');
  });
  afterEach(() => h.end());

  const item = (dedup_key: string, over: Partial<NewOperatorItem> = {}): NewOperatorItem => ({
    id: h.id(),
    kind: 'alert',
    dedup_key,
    priority: 'normal',
    title: `a: ${dedup_key}`,
    evidence: ['x'],
    ...over,
  });
  const put = (key: string, over: Partial<NewOperatorItem> = {}, agent_name: string | null = 'a') =>
    h.write('put_operator_item', { item: item(key, over), agent_name, execution_id: null });
  const see = (id: string) =>
    h.write('answer_operator_item', { id, status: 'acknowledged', answer: null, by: 'user:u1' });
  const items = (status: 'open' | 'closed' | 'pending' | null = 'open') =>
    h.read('operator_items', { status, limit: 100 });
  /** A run of the agent that ends so, with the items its ending raises. */
  const run = async (over: Parameters<House['settle']>[1] = {}, agent = 'a') => {
    await h.submit(agent);
    const claim = await h.start();
    await h.settle(claim, over);
    return claim.execution;
  };
  const crash = (over: Partial<NewOperatorItem> = {}) =>
    run({ ...failed('crashed'), repeated: item('crashed', { priority: 'high', quiet_ms: 0, ...over }) });

  describe('operator items', () => {
    it(verifies('R42')('are one while they last: the same again counts up, and tells so'), async () => {
      const first = await put('k');
      h.pass(5);
      expect(await put('k', { title: 'newer', evidence: ['y'] })).toMatchObject({
        id: first.id,
        count: 2,
        title: 'newer',
        evidence: ['y'],
        status: 'open',
        created_at: first.created_at,
        last_at: first.created_at + 5,
      });
      const { events } = await h.read('events_after', { after: 0, limit: 100 });
      const told = events.filter((e) => e.type.startsWith('operator.'));
      expect(told.map((e) => [e.type, e.data.item_id, e.data.count])).toEqual([
        ['operator.opened', first.id, 1],
        ['operator.changed', first.id, 2],
      ]);
    });

    it(
      verifies('R42')('that were seen count on in silence; they open again after an hour, or when worse'),
      async () => {
        const { id } = await put('k');
        await see(id);
        h.pass(hour - 1);
        expect(await put('k')).toMatchObject({ id, status: 'acknowledged', count: 2 });
        h.pass(1);
        expect(await put('k')).toMatchObject({ id, status: 'open', count: 3 });
        await see(id);
        expect(await put('k', { priority: 'high' })).toMatchObject({ id, status: 'open', priority: 'high', count: 4 });
        expect(await put('k')).toMatchObject({ priority: 'high' });
      },
    );

    it(verifies('R42')('are at most 25 open per agent, the last of which counts what is not listed'), async () => {
      for (let i = 0; i < 40; i++) await put(`k${i}`, i === 30 ? { priority: 'high' } : {});
      await put('of another agent', {}, 'b');
      const mine = (await items()).filter((i) => i.agent_name === 'a');
      expect(mine).toHaveLength(itemLimits.openPerAgent);
      const more = mine.filter((i) => i.dedup_key === 'not_listed');
      expect(more).toMatchObject([{ count: 16, priority: 'high', title: 'a: 16 more alerts, not listed' }]);
      expect(more[0]!.evidence.at(-1)).toBe('a: k39');
      await see(mine.find((i) => i.dedup_key === 'k3')!.id);
      expect(await put('k99')).toMatchObject({ dedup_key: 'k99', count: 1 });
    });

    it(verifies('R42')('of a state are closed by the next success that was claimed after them'), async () => {
      await h.submit('a');
      const before = await h.start();
      h.pass(1);
      const raised = { operator_items: [item('auth_failed', { quiet_ms: 0 }), item('for ever')] };
      await run({ ...failed('auth_failed'), ...raised });
      h.pass(1);
      await h.settle(before);
      expect((await items()).map((i) => i.dedup_key)).toEqual(['for ever', 'auth_failed']);
      await run(failed('crashed'));
      expect(await items()).toHaveLength(2);
      await run({ operator_items: [item('blocked_tools', { quiet_ms: 0 })] });
      expect((await items()).map((i) => i.dedup_key)).toEqual(['blocked_tools', 'for ever']);
      await run({ operator_items: [item('blocked_tools', { quiet_ms: 0 })] });
      expect(await items()).toMatchObject([{ dedup_key: 'blocked_tools', count: 2 }, {}]);
      await run();
      expect((await items()).map((i) => i.dedup_key)).toEqual(['for ever']);
      // The next trouble of the kind is another episode.
      expect(await put('auth_failed')).toMatchObject({ count: 1, status: 'open' });
    });

    it(verifies('R42')('of one moment stay until they were seen, or a day of quiet and then a success'), async () => {
      const oom = { operator_items: [item('oom_killed', { quiet_ms: day })] };
      await run({ ...failed('oom_killed'), ...oom });
      await run();
      expect(await items()).toHaveLength(1);
      h.pass(day);
      await run();
      expect(await items()).toEqual([]);
      await run({ ...failed('oom_killed'), operator_items: [item('oom_killed', { quiet_ms: day })] });
      await see((await items())[0]!.id);
      await run();
      expect(await items('closed')).toHaveLength(2);
    });

    it(verifies('R42')('of three endings of one cause in a row come once, however many follow'), async () => {
      await crash();
      await crash();
      expect(await items()).toEqual([]);
      await crash();
      expect(await items()).toMatchObject([{ title: 'a: crashed, 3 times in a row', priority: 'high', count: 1 }]);
      await crash();
      expect(await items()).toMatchObject([{ title: 'a: crashed, 4 times in a row', count: 2 }]);
      await run();
      expect(await items()).toEqual([]);
      await crash();
      await crash();
      await run(failed('overloaded'));
      expect(await items()).toEqual([]);
    });

    it('of a cause in a row need one cause, one agent and one day', async () => {
      await h.agent('b');
      await crash();
      await crash();
      await run({ ...failed('crashed'), repeated: item('crashed') }, 'b');
      await run({ ...failed('timed_out'), repeated: item('timed_out') });
      await crash();
      h.pass(day);
      await crash();
      await crash();
      expect(await items()).toEqual([]);
      await crash();
      expect(await items()).toHaveLength(1);
    });

    it('take the place of the single one when it comes again and again', async () => {
      const single = () => ({ operator_items: [item('crashed', { quiet_ms: day })] });
      for (let i = 0; i < 3; i++)
        await run({ ...failed('crashed'), ...single(), repeated: item('crashed', { priority: 'high', quiet_ms: 0 }) });
      expect(await items()).toMatchObject([{ priority: 'high', count: 3, title: 'a: crashed, 3 times in a row' }]);
    });

    it(verifies('R42', 'R23')('tell of a lost runner once, by name, with every run it took along'), async () => {
      const [e, f] = [await h.submit('a'), await h.submit('a')];
      await h.start();
      await h.start();
      h.pass(leaseMs + 900_000);
      const reap = { lease_ms: leaseMs, grace_ms: 900_000, same_host: null, max: 9 };
      expect((await h.write('reap', reap)).lost).toHaveLength(2);
      const [lost, ...others] = await items();
      expect(others).toEqual([]);
      expect(lost).toMatchObject({ agent_name: null, priority: 'high', count: 2, dedup_key: 'runner_lost:r1' });
      expect(lost!.title).toBe('Runner r1 on h1 was lost with what ran on it');
      for (const { id } of [e, f]) expect(lost!.evidence.join('\n')).toContain(id);
      await see(lost!.id);
      await run();
      expect(await items('closed')).toHaveLength(1);
    });

    it('close with their agent, which leaves nothing to the next of its name', async () => {
      await put('k');
      const agent = (await h.read('agent_by_name', { name: 'a' }))!;
      await crash();
      await crash();
      await h.write('delete_agent', { id: agent.id, by: 'u' });
      expect(await items('closed')).toHaveLength(1);
      await h.agent('a');
      await crash();
      expect(await items()).toEqual([]);
    });
  });

  describe('questions', () => {
    const ask = async (
      over: Partial<{ key: string; execution_id: string; token: string | null; title: string }> = {},
    ) => {
      const agent = (await h.read('agent_by_name', { name: 'a' }))!;
      return h.write('ask_operator', {
        item: { ...item(over.key ?? 'q', { title: over.title ?? 'Which?' }), kind: 'question' },
        options: ['this', 'that'],
        agent: { id: agent.id, name: 'a' },
        execution_id: over.execution_id ?? null,
        token: over.token ?? null,
      });
    };
    const asked = async (over: Parameters<typeof ask>[0] = {}) => {
      const answer = await ask(over);
      if (isRefusal(answer)) throw new Error(answer.message);
      return answer;
    };
    const answer = (id: string, text: string) =>
      h.write('answer_operator_item', { id, status: 'answered', answer: text, by: 'user:u1' });
    const due = () => h.read('answers_due', { id: null, limit: 9 });

    it(verifies('R42')('are asked by the live attempt alone, once per session while they wait'), async () => {
      await h.submit('a');
      const c = await h.start();
      const by = { execution_id: c.execution.id, token: c.token };
      const { item: first, created } = await asked(by);
      expect(created).toBe(true);
      expect(first).toMatchObject({ options: ['this', 'that'], session_id: c.execution.session_id, kind: 'question' });
      expect(await asked(by)).toMatchObject({ created: false, item: { id: first.id, count: 2 } });
      expect(await ask({ ...by, token: 'other' })).toMatchObject({ code: 'caller_ended' });
      expect(await ask({ execution_id: 'nope' })).toMatchObject({ code: 'not_found' });
      await h.settle(c);
      expect(await ask(by)).toMatchObject({ code: 'caller_ended' });
    });

    it('are refused beyond their bound, so that alerts keep their places', async () => {
      for (let i = 0; i < itemLimits.questionsPerAgent; i++) await asked({ key: `q${i}` });
      expect(await ask({ key: 'one more' })).toMatchObject({ code: 'inbox_full' });
      expect(await put('oom_killed')).toMatchObject({ dedup_key: 'oom_killed', count: 1 });
    });

    it('that were seen still wait, are listed as pending, and outlive retention', async () => {
      const { item: q } = await asked();
      await see((await put('k')).id);
      await see(q.id);
      expect((await items('pending')).map((i) => i.id)).toEqual([q.id]);
      h.pass(40 * day);
      await h.write('retain', { events_before: 0, executions_before: h.now(), max: 99 });
      expect((await items(null)).map((i) => i.id)).toEqual([q.id]);
    });

    it(verifies('R42')('give their answer to the living execution, once'), async () => {
      await h.submit('a');
      const c = await h.start();
      const { item: q } = await asked({ execution_id: c.execution.id, token: c.token });
      expect(await h.write('take_answer', { id: q.id, token: c.token })).toBeNull();
      expect(await answer(q.id, 'this')).toMatchObject({ delivery: 'pending', answered_by: 'user:u1' });
      expect(await answer(q.id, 'that')).toMatchObject({ answer: 'this' });
      expect(await due()).toEqual([]);
      expect(await h.write('take_answer', { id: q.id, token: 'other' })).toBeNull();
      expect(await h.write('take_answer', { id: q.id, token: c.token })).toMatchObject({ delivery: 'returned' });
      expect(await h.write('take_answer', { id: q.id, token: c.token })).toBeNull();
      await h.settle(c);
      expect(await due()).toEqual([]);
    });

    it(verifies('R42')('whose asker has ended have an answer that is due, with what it was asked with'), async () => {
      await h.submit('a', { options: { model: 'small' } });
      const c = await h.start();
      const { item: q } = await asked({ execution_id: c.execution.id, token: c.token });
      await answer(q.id, 'this');
      await h.settle(c);
      expect(await due()).toMatchObject([{ item: { id: q.id }, options: { model: 'small' }, timeout_s: 3600 }]);
      expect(await h.write('take_answer', { id: q.id, token: c.token })).toBeNull();
      const deliver = (delivery: 'pending' | 'resumed', execution_id: string | null, note: string | null) =>
        h.write('answer_delivered', { id: q.id, delivery, execution_id, note });
      expect(await deliver('pending', null, 'stopped')).toMatchObject({ delivery_note: 'stopped' });
      expect(await deliver('resumed', 'e9', null)).toMatchObject({ answer_execution_id: 'e9', delivery_note: null });
      expect(await deliver('resumed', 'e10', null)).toMatchObject({ answer_execution_id: 'e9' });
      expect(await due()).toEqual([]);
    });

    it(verifies('D36')('of a deleted agent give their answer to nobody, whoever has its name later'), async () => {
      const { item: q } = await asked();
      await answer(q.id, 'this');
      expect(await due()).toHaveLength(1);
      await h.write('delete_agent', { id: (await h.read('agent_by_name', { name: 'a' }))!.id, by: 'u' });
      await h.agent('a');
      expect(await due()).toEqual([]);
      expect(await h.read('operator_item', { id: q.id })).toMatchObject({ delivery: 'failed' });
    });

    it('of a cancelled execution close: nobody waits for the answer', async () => {
      await h.submit('a');
      const c = await h.start();
      await asked({ execution_id: c.execution.id, token: c.token });
      await asked({ key: 'other' });
      await h.write('cancel', { execution_id: c.execution.id, by: 'u', reason: null });
      await h.settle(c, { verdict: { cause: 'cancelled' }, decision: { kind: 'end', status: 'cancelled' } });
      expect((await items()).map((i) => i.dedup_key)).toEqual(['main:other']);
    });
  });

  describe('notifications', () => {
    const target = (min_severity: 'low' | 'normal' | 'high' = 'normal') =>
      h.write('put_notify_target', {
        target: { format: 'json', min_severity, sealed: 's', shown: 'http://x/…', signed: true },
      });
    const take = (max = 9) => h.write('take_notifications', { max, hold_ms: 1000 });

    it(verifies('R42')('are written with each edge that is grave enough, and with no repetition'), async () => {
      await put('before there was a target', { priority: 'high' });
      await target();
      await put('low', { priority: 'low' });
      const written = await h.written('put_operator_item', { item: item('k'), agent_name: 'a', execution_id: null });
      expect(written.stirred.notices).toBe(true);
      await put('k');
      await put('k', { priority: 'high' });
      await see(written.result.id);
      h.pass(hour);
      await put('k');
      const { taken } = await take();
      expect(taken.map((n) => [n.edge, n.item.dedup_key, n.item.priority, n.item.count])).toEqual([
        ['opened', 'k', 'normal', 1],
        ['escalated', 'k', 'high', 3],
        ['reopened', 'k', 'high', 4],
      ]);
    });

    it('taken by a sender that dies come back by time; tried ones at their time; sent and given up ones never', async () => {
      await target();
      for (const k of ['a', 'b', 'c']) await put(k);
      const first = await take(2);
      expect(first.taken).toHaveLength(2);
      const [a, b] = first.taken;
      const third = (await take()).taken;
      expect(third.map((n) => n.item.dedup_key)).toEqual(['c']);
      expect(await take()).toEqual({ taken: [], next_due: h.now() + 1000 });
      await h.write('notification_tried', { id: a!.id, ok: true });
      await h.write('notification_tried', { id: b!.id, ok: false, error: '500', retry_at: h.now() + 400 });
      await h.write('notification_tried', { id: third[0]!.id, ok: false, error: '500', retry_at: null });
      h.pass(400);
      expect((await take()).taken).toMatchObject([{ id: b!.id, attempts: 1, last_error: '500' }]);
      h.pass(1000);
      expect((await take()).taken.map((n) => n.id)).toEqual([b!.id]);
      const all = await h.read('notifications', { limit: 9 });
      expect(all.map((n) => n.state)).toEqual(['gave_up', 'waiting', 'sent']);
    });

    it('that wait go to a new address at once, and nowhere when they are switched off', async () => {
      await target();
      await put('k');
      await take();
      await target('high');
      expect((await take()).taken).toHaveLength(1);
      await h.write('put_notify_target', { target: null });
      expect(await take()).toEqual({ taken: [], next_due: null });
      expect(await h.read('notifications', { limit: 9 })).toMatchObject([{ state: 'gave_up' }]);
      expect(await h.read('notify_target', {})).toBeNull();
      await put('later', { priority: 'high' });
      expect(await h.read('notifications', { limit: 9 })).toHaveLength(1);
    });

    it('that are over are forgotten with the executions of their time', async () => {
      await target();
      await put('k');
      await put('l');
      const { taken } = await take();
      await h.write('notification_tried', { id: taken[0]!.id, ok: true });
      h.pass(day);
      await h.write('retain', { events_before: 0, executions_before: h.now(), max: 99 });
      expect((await h.read('notifications', { limit: 9 })).map((n) => n.id)).toEqual([taken[1]!.id]);
    });
  });
};
