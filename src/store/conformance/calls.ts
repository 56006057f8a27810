/** Calls between agents: yield and resume, cascade, room; what the checked model of dispatch says must hold (F1-F14). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { ClaimRow } from '../store.ts';
import type { OpenEngine } from './engine.ts';
import { failed, type House, leaseMs, openHouse, room } from './house.ts';

export const callsConformance = (open: OpenEngine): void => {
  let h: House;
  beforeEach(async () => {
    h = await openHouse(open);
    for (const n of ['a', 'b', 'c']) await h.agent(n, { max_parallel_tasks: 1 });
  });
  afterEach(() => h.end());
  const waitFor = (c: ClaimRow, ...ids: string[]) =>
    h.write('open_call', {
      call_id: h.id(),
      caller: { execution_id: c.execution.id, token: c.token },
      child_ids: ids,
    });
  const root = async (agent = 'a') => {
    await h.submit(agent);
    return h.start();
  };
  const caller = (c: ClaimRow) => ({ caller: { execution_id: c.execution.id, token: c.token } });

  describe('yield and resume', () => {
    it(
      verifies('R17')('a caller gives its slots back at once and gets them again, with attempt, token and credential'),
      async () => {
        h.limits.agent_call_limit = 1;
        await h.credential('k', { max_parallel: 1 });
        await h.agent('p', { adapter: 'claude', max_parallel_tasks: 1 });
        const parent = await root('p');
        const child = await h.call(parent, 'b');
        expect(await h.row(parent.execution.id)).toMatchObject({
          status: 'waiting',
          runner_id: 'r1',
          credential_id: 'k',
        });
        expect((await h.read('occupancy', { limits: h.limits })).fleet).toMatchObject({
          running: 0,
          waiting: 1,
          queued: 1,
        });
        const c = await h.start();
        expect(c.execution).toMatchObject({ id: child.id, depth: 1, root_id: parent.execution.id });
        await h.settle(c);
        expect(await h.row(parent.execution.id)).toMatchObject({ status: 'running', attempt: 1, credential_id: 'k' });
        expect((await h.settle(parent)).result).toBe('settled');
      },
    );

    it(verifies('R17')('a call that comes while the resume is pending keeps the caller waiting (F5)'), async () => {
      const parent = await root();
      const [one, two] = [await h.submit('b', {}, caller(parent)), await h.submit('c', {}, caller(parent))];
      await waitFor(parent, one.id);
      // Somebody else takes the agent's slot, so that the resume stays pending.
      await h.submit('a');
      const other = (await h.claim(9)).find((x) => x.agent.name === 'a')!;
      await h.begin(other);
      await h.write('cancel', { execution_id: one.id, by: 'user:1', reason: null });
      expect(await h.status(parent.execution.id)).toBe('waiting');
      await waitFor(parent, two.id);
      await h.settle(other);
      expect(await h.status(parent.execution.id)).toBe('waiting');
      await h.write('cancel', { execution_id: two.id, by: 'user:1', reason: null });
      expect(await h.status(parent.execution.id)).toBe('running');
    });

    it(verifies('R17')('one may wait only for what one created, with the token of the running attempt'), async () => {
      const parent = await root();
      const foreign = await h.submit('b');
      expect(await waitFor(parent, foreign.id)).toMatchObject({ code: 'not_found' });
      expect(await waitFor({ ...parent, token: 'old' }, foreign.id)).toMatchObject({ code: 'caller_ended' });
      expect(await h.ask('b', {}, { caller: { execution_id: parent.execution.id, token: 'old' } })).toMatchObject({
        code: 'caller_ended',
      });
      await h.write('cancel', { execution_id: parent.execution.id, by: 'user:1', reason: null });
      expect(await h.ask('b', {}, caller(parent))).toMatchObject({ code: 'caller_ended' });
    });

    it('waiting for what has ended already gives up no slot; the same call twice is one call', async () => {
      const parent = await root();
      const child = await h.submit('b', {}, caller(parent));
      const c = await h.start();
      await h.settle(c);
      expect(await waitFor(parent, child.id)).toEqual({ ok: true });
      expect(await h.status(parent.execution.id)).toBe('running');
      const next = await h.submit('b', {}, caller(parent));
      const call = { call_id: 'same', ...caller(parent), child_ids: [next.id] };
      expect([await h.write('open_call', call), await h.write('open_call', call)]).toEqual([
        { ok: true },
        { ok: true },
      ]);
      await h.settle(await h.start());
      expect(await h.status(parent.execution.id)).toBe('running');
    });

    it(
      verifies('R21')('a call given up cancels its child, and the caller runs at once, even over the cap'),
      async () => {
        h.limits.agent_call_limit = 1;
        const parent = await root();
        const child = await h.submit('b', {}, caller(parent));
        await h.write('open_call', { call_id: 'k1', ...caller(parent), child_ids: [child.id] });
        const c = await h.start();
        expect(await h.write('abandon_call', { call_id: 'k1', caller_token: 'wrong' })).toEqual({ ok: false });
        expect(await h.write('abandon_call', { call_id: 'k1', caller_token: parent.token })).toEqual({ ok: true });
        expect(await h.status(parent.execution.id)).toBe('running');
        expect((await h.read('occupancy', { limits: h.limits })).fleet.running).toBe(2);
        await h.submit('c');
        expect(await h.claim(9)).toEqual([]);
        await h.settle(c, { ...failed('cancelled'), decision: { kind: 'end', status: 'cancelled' } });
        expect(await h.claim(9)).toEqual([]);
        await h.settle(parent);
        expect(await h.claim(9)).toHaveLength(1);
      },
    );
  });

  describe('waits that end otherwise', () => {
    it(
      verifies('R17')('asked for and waited for in one transaction: a refusal leaves neither row nor call behind'),
      async () => {
        const parent = await root();
        const one = await h.submit('b', { kind: 'chat' }, { ...caller(parent), open_call: 'k1' });
        expect([await h.status(parent.execution.id), await h.status(one.id)]).toEqual(['waiting', 'queued']);
        const rows = (await h.read('executions', { limit: 99 })).length;
        const busy = { kind: 'chat' as const, session_id: one.session_id };
        expect(await h.ask('b', busy, { ...caller(parent), open_call: 'k2' })).toMatchObject({ code: 'session_busy' });
        // The id of another caller's call.
        const stranger = await root('c');
        expect(await h.ask('b', {}, { ...caller(stranger), open_call: 'k1' })).toMatchObject({ code: 'conflict' });
        expect(await h.status(stranger.execution.id)).toBe('running');
        expect(await h.read('executions', { limit: 99 })).toHaveLength(rows + 1);
        expect((await h.read('chain', { execution_id: one.id, limit: 9 }))!.waits).toEqual([
          { execution_id: parent.execution.id, child_id: one.id, since: h.now() },
        ]);
      },
    );

    it(
      verifies('R17')('sent again with its key and call id it joins the wait: one child, one call, also after the end'),
      async () => {
        const parent = await root();
        const again = {
          ...caller(parent),
          open_call: 'k1',
          idempotency: { scope: `execution:${parent.execution.id}`, key: 'k1', body_hash: 'h' },
        };
        const one = await h.submit('b', {}, again);
        expect((await h.submit('b', {}, again)).id).toBe(one.id);
        await h.settle(await h.start());
        expect(await h.status(parent.execution.id)).toBe('running');
        expect(await h.submit('b', {}, again)).toMatchObject({ id: one.id, status: 'success' });
        expect(await h.status(parent.execution.id)).toBe('running');
      },
    );

    it(
      verifies('R17')('a time limit ends the wait through the resume; the child goes on as work of its own (F3)'),
      async () => {
        h.limits.agent_call_limit = 1;
        const parent = await root();
        const child = await h.submit('b', {}, { ...caller(parent), open_call: 'k1' });
        const running = await h.start();
        expect(running.execution.id).toBe(child.id);
        const detached = await h.written('detach_call', { call_id: 'k1', caller_token: parent.token });
        expect([detached.result.ok, detached.stirred.resumed]).toEqual([true, []]);
        expect([await h.status(parent.execution.id), await h.status(child.id)]).toEqual(['waiting', 'running']);
        expect(await h.write('detach_call', { call_id: 'k1', caller_token: parent.token })).toEqual({ ok: false });
        await h.settle(running);
        expect([await h.status(parent.execution.id), await h.status(child.id)]).toEqual(['running', 'success']);
      },
    );

    it(verifies('R7')('tells the runner how long an attempt has stood still in its calls'), async () => {
      const parent = await root();
      const renew = () =>
        h.write('renew', {
          runner_id: 'r1',
          room,
          lease_ms: leaseMs,
          attempts: [
            {
              attempt: parent.attempt_id,
              token: parent.token,
              proof: null,
              started_at: null,
              cpu_ms: null,
              rss_bytes: null,
            },
          ],
        });
      for (const ms of [400, 70]) {
        await h.call(parent, 'b');
        h.pass(ms);
        expect(await renew()).toMatchObject([{ state: 'waiting', called_ms: ms === 400 ? 400 : 470 }]);
        await h.settle(await h.start());
      }
      expect(await renew()).toMatchObject([{ state: 'ok', called_ms: 470 }]);
    });

    it(verifies('R21')('marks a run that goes on beside its open call, and the mark outlives its ending'), async () => {
      const parent = await root();
      expect(await h.read('waiting_since', { execution_id: parent.execution.id })).toBeNull();
      await h.call(parent, 'b');
      expect(await h.read('waiting_since', { execution_id: parent.execution.id })).toEqual({
        since: h.now(),
        token: parent.token,
        attention: [],
      });
      const mark = { execution_id: parent.execution.id, token: parent.token, attention: 'waiting_active' };
      expect(await h.write('mark_attention', { ...mark, token: 'old' })).toEqual({ marked: false });
      expect([await h.write('mark_attention', mark), await h.write('mark_attention', mark)]).toEqual([
        { marked: true },
        { marked: false },
      ]);
      await h.settle(await h.start());
      await h.settle(parent, { verdict: { attention: ['blocked_tools'] } });
      expect((await h.row(parent.execution.id)).attention).toEqual(['waiting_active', 'blocked_tools']);
    });
  });

  it(verifies('R20')('whom an agent may call is kept by id, and can go back to the default'), async () => {
    expect(await h.read('permissions', { agent_id: 'x' })).toBeNull();
    for (const targets of [['b', 'a', 'b'], []]) await h.write('put_permissions', { agent_id: 'x', targets });
    expect(await h.read('permissions', { agent_id: 'x' })).toEqual([]);
    await h.write('put_permissions', { agent_id: 'x', targets: ['b', 'a', 'b'] });
    expect(await h.read('permissions', { agent_id: 'x' })).toEqual(['a', 'b']);
    await h.write('put_permissions', { agent_id: 'x', targets: null });
    expect(await h.read('permissions', { agent_id: 'x' })).toBeNull();
  });

  it(verifies('R17')('shows the whole chain from any of its rows, and no more than asked for'), async () => {
    const top = await root();
    const b = await h.call(top, 'b');
    const inner = await h.start();
    const c = await h.call(inner, 'c');
    const ids = [top.execution.id, b.id, c.id];
    for (const execution_id of ids) {
      const seen = (await h.read('chain', { execution_id, limit: 9 }))!;
      expect(seen.executions.map((e) => e.id)).toEqual(ids);
      expect(seen.waits.map((w) => [w.execution_id, w.child_id])).toEqual([
        [ids[0], ids[1]],
        [ids[1], ids[2]],
      ]);
      expect(seen.more).toBe(false);
    }
    const few = (await h.read('chain', { execution_id: c.id, limit: 2 }))!;
    expect([few.executions.length, few.more]).toEqual([2, true]);
    expect(await h.read('chain', { execution_id: 'none', limit: 9 })).toBeNull();
  });

  describe('graphs', () => {
    it(verifies('D11')('A calls B calls C calls A with every cap 1, and two that cross, complete'), async () => {
      h.limits.agent_call_limit = 1;
      await chain(h, await root('a'), ['b', 'c', 'a']);
      const x = await root('a');
      const nested = await h.call(x, 'b');
      await h.submit('b');
      const inner = await h.start();
      expect(inner.execution.id).toBe(nested.id);
      await h.settle(inner);
      await h.settle(x);
      const y = await h.start();
      await chain(h, y, ['a']);
      expect(await h.read('invariants', { limits: h.limits }).then((all) => all.filter((i) => !i.ok))).toEqual([]);
    });

    it(
      verifies('D12')('an agent calls itself ten times in parallel with cap 3 while it waits: never more than 3 run'),
      async () => {
        await h.agent('self', { max_parallel_tasks: 3 });
        const parent = await root('self');
        const ids = [];
        for (let i = 0; i < 10; i++) ids.push((await h.submit('self', {}, caller(parent))).id);
        await waitFor(parent, ...ids);
        for (let done = 0; done < 10; ) {
          const claims = await h.claim(10);
          const { fleet } = await h.read('occupancy', { limits: h.limits });
          expect(fleet.running).toBeLessThanOrEqual(3);
          expect(claims.length).toBeGreaterThan(0);
          for (const c of claims) {
            await h.begin(c);
            await h.settle(c);
            done++;
          }
        }
        expect(await h.status(parent.execution.id)).toBe('running');
      },
    );

    it(
      verifies(
        'R20',
        'D13',
      )('too deep is refused and leaves no row; the end of a caller ends what it waits for, down the tree'),
      async () => {
        h.limits.max_depth = 2;
        const one = await root('a');
        const b = await h.call(one, 'b');
        const two = await h.start();
        const c = await h.call(two, 'c');
        const three = await h.start();
        const before = (await h.read('executions', { limit: 99 })).length;
        expect(await h.ask('a', {}, caller(three))).toMatchObject({
          code: 'inter_agent_depth_exceeded',
          details: { depth: 3, max_depth: 2 },
        });
        expect(await h.read('executions', { limit: 99 })).toHaveLength(before);
        const { stirred } = await h.written('cancel', { execution_id: one.execution.id, by: 'user:1', reason: null });
        expect(stirred.stops.map((s) => s.execution_id)).toEqual([one.execution.id, b.id, c.id]);
        for (const claim of [three, two, one])
          await h.settle(claim, { ...failed('cancelled'), decision: { kind: 'end', status: 'cancelled' } });
        for (const id of [one.execution.id, b.id, c.id]) expect(await h.status(id)).toBe('cancelled');
      },
    );

    it(
      verifies('R20')('a caller that dies, retries or is lost leaves no child at work; an asynchronous child goes on'),
      async () => {
        const parent = await root('a');
        const child = await h.call(parent, 'b');
        const free = await h.submit('c', {}, caller(parent));
        await h.settle(parent, { ...failed('overloaded'), decision: { kind: 'retry', after_ms: 0, why: 'x' } });
        expect([await h.status(child.id), await h.status(free.id)]).toEqual(['cancelled', 'queued']);
        const again = (await h.claim(9)).find((x) => x.agent.name === 'a')!;
        await h.begin(again);
        const second = await h.call(again, 'b');
        h.pass(leaseMs);
        await h.write('reap', { lease_ms: leaseMs, grace_ms: 0, same_host: null, max: 10 });
        expect([await h.status(again.execution.id), await h.status(second.id)]).toEqual(['failed', 'cancelled']);
      },
    );

    it(verifies('R16')('a child of an agent that is then stopped fails at once, and its caller goes on'), async () => {
      const parent = await root('a');
      const child = await h.call(parent, 'b');
      await h.write('update_agent', { id: child.agent_id, patch: { desired_state: 'stopped' } });
      expect(await h.row(child.id)).toMatchObject({ status: 'failed', cause: 'agent_stopped' });
      expect(await h.status(parent.execution.id)).toBe('running');
    });

    it(verifies('R19')('room is layered: each deeper level keeps a place, and a resume asks for none'), async () => {
      h.limits.max_depth = 2;
      await h.agent('wide', { max_parallel_tasks: 9 });
      const small = { room: { slots: 3 } };
      await h.submit('wide');
      await h.submit('wide');
      const first = await h.start(small);
      // A second root would take the place of a child's child.
      expect(await h.claim(9, small)).toEqual([]);
      await h.call(first, 'wide');
      const second = await h.start(small);
      expect(second.execution.depth).toBe(1);
      await h.call(second, 'wide');
      const third = await h.start(small);
      expect(third.execution.depth).toBe(2);
      await h.settle(third);
      await h.settle(second);
      expect(await h.status(first.execution.id)).toBe('running');
    });
  });
};

const chain = async (h: House, first: ClaimRow, agents: string[]): Promise<void> => {
  const stack = [first];
  for (const agent of agents) {
    await h.call(stack.at(-1)!, agent);
    stack.push(await h.start());
  }
  for (const c of stack.reverse()) {
    await h.settle(c);
    expect(await h.status(c.execution.id)).toBe('success');
  }
};
