/** Batches: all or none, a bound of their own that no claim pays for, waited for as one call, cancelled as one. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { OpenEngine } from './engine.ts';
import { failed, type House, openHouse } from './house.ts';

export const fanOutsConformance = (open: OpenEngine): void => {
  let h: House;
  beforeEach(async () => {
    h = await openHouse(open);
    await h.agent('wide', { max_parallel_tasks: 50 });
    await h.agent('other');
    await h.claim(0);
  });
  afterEach(() => h.end());
  const id = async (execution: string) =>
    (await h.read('executions', { limit: 99 })).find((e) => e.id === execution)!.id;
  const broken = async () => (await h.read('invariants', { limits: h.limits })).filter((i) => !i.ok);

  it(verifies('R9')('runs no more at once than it may, and hands each place to the oldest behind'), async () => {
    const items = await h.fanOut('wide', 5, { max_concurrency: 2, id: 'f1' });
    const later = await h.submit('wide');
    const first = await h.claim(9);
    // What stands behind a batch holds up nobody else.
    expect(first.map((c) => c.execution.id)).toEqual([items[0]!.id, items[1]!.id, later.id]);
    for (const c of first) await h.begin(c);
    expect(await h.reason(items[2]!.id)).toBe('fan_out_cap');
    expect(await broken()).toEqual([]);
    await h.settle(first[1]!);
    const [third] = await h.claim(9);
    expect(third!.execution.id).toBe(items[2]!.id);
    // A retry keeps its place.
    await h.settle(first[0]!, { ...failed('overloaded'), decision: { kind: 'retry', after_ms: 50, why: 'x' } });
    expect(await h.claim(9)).toEqual([]);
    await h.write('cancel', { execution_id: items[0]!.id, by: 'x', reason: null });
    expect((await h.claim(9)).map((c) => c.execution.id)).toEqual([items[3]!.id]);
    const seen = (await h.read('fan_out', { id: 'f1' }))!;
    expect(seen.fan_out).toMatchObject({ agent_name: 'wide', max_concurrency: 2, tasks: 5 });
    expect(seen.items.map((i) => [i.item, i.execution.status])).toEqual([
      ['item-0', 'cancelled'],
      ['item-1', 'success'],
      ['item-2', 'running'],
      ['item-3', 'running'],
      ['item-4', 'queued'],
    ]);
    expect(await h.read('fan_out', { id: 'none' })).toBeNull();
  });

  it(verifies('R17')('a caller waits for all of it in one call, whatever stands behind, at every cap 1'), async () => {
    h.limits.agent_call_limit = 1;
    await h.submit('other');
    const parent = await h.start();
    const caller = { execution_id: parent.execution.id, token: parent.token };
    const items = await h.fanOut('wide', 3, { max_concurrency: 1, caller, open_call: 'k' });
    expect(items.map((e) => [e.parent_execution_id, e.depth])).toEqual(Array(3).fill([parent.execution.id, 1]));
    await h.write('set_paused', { paused: true, by: 'x' });
    for (const item of items) {
      expect(await h.status(parent.execution.id)).toBe('waiting');
      const c = await h.start();
      expect(c.execution.id).toBe(item.id);
      expect(await broken()).toEqual([]);
      await h.settle(c);
    }
    expect(await h.status(parent.execution.id)).toBe('running');
  });

  it('all or none: one refusal takes the whole batch back', async () => {
    await h.agent('small', { max_backlog_depth: 3 });
    await h.submit('small');
    await expect(h.fanOut('small', 3)).rejects.toThrow('backlog_full');
    expect(await h.read('executions', { limit: 99 })).toHaveLength(1);
    expect(await h.read('fan_out', { id: 'f' })).toBeNull();
    expect(await h.fanOut('small', 2)).toHaveLength(2);
  });

  it('sent again with its key it is the same batch; another body is refused', async () => {
    const idempotency = { scope: 's', key: 'k', body_hash: 'h' };
    const one = await h.fanOut('wide', 2, { idempotency });
    const two = await h.fanOut('wide', 2, { idempotency });
    expect(two.map((e) => e.id)).toEqual(one.map((e) => e.id));
    await expect(h.fanOut('wide', 2, { idempotency: { ...idempotency, body_hash: 'x' } })).rejects.toThrow(
      'idempotency_conflict',
    );
  });

  it('cancelled as a whole: what stands behind never starts, what runs is told, what ended stays', async () => {
    const items = await h.fanOut('wide', 4, { max_concurrency: 2, id: 'f1' });
    const [a, b] = await h.claim(9);
    for (const c of [a!, b!]) await h.begin(c);
    await h.settle(a!);
    const { result, stirred } = await h.written('cancel_fan_out', { id: 'f1', by: 'user:1', reason: null });
    expect(result).toEqual({ cancelled: 3 });
    expect(stirred.stops.map((s) => s.execution_id)).toEqual([items[1]!.id]);
    expect(await h.claim(9)).toEqual([]);
    const statuses = [];
    for (const e of items) statuses.push(await h.status(await id(e.id)));
    expect(statuses).toEqual(['success', 'running', 'cancelled', 'cancelled']);
    expect(await h.write('cancel_fan_out', { id: 'none', by: 'x', reason: null })).toBeNull();
  });

  it('a batch goes with the last of its executions', async () => {
    await h.fanOut('wide', 1, { id: 'f1' });
    await h.settle(await h.start());
    h.pass(10);
    const at = { events_before: 0, max: 50 };
    await h.write('retain', { ...at, executions_before: h.now() - 20 });
    expect(await h.read('fan_out', { id: 'f1' })).not.toBeNull();
    await h.write('retain', { ...at, executions_before: h.now() });
    expect(await h.read('fan_out', { id: 'f1' })).toBeNull();
  });
};
