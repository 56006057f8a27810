/** Who is next: resumes, children, roots in turns, shares and bounds (R10), and that asking costs the same however many wait. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { isRefusal } from '../../contract/errors.ts';
import type { ExecutionRequest } from '../../contract/execution.ts';
import type { ClaimRow } from '../store.ts';
import type { OpenEngine } from './engine.ts';
import { about, type House, leaseMs, openHouse, room } from './house.ts';

export const orderConformance = (open: OpenEngine): void => {
  let h: House;
  beforeEach(async () => {
    h = await openHouse(open);
    h.limits.agent_call_limit = 1;
  });
  afterEach(() => h.end());
  const names = (claims: ClaimRow[]) => claims.map((c) => c.agent.name);
  /** Claims and ends one after the other; gives the agents in order. */
  const drain = async (n: number): Promise<string[]> => {
    const order: string[] = [];
    for (let i = 0; i < n; i++) {
      const c = await h.start();
      order.push(c.agent.name);
      await h.settle(c);
    }
    return order;
  };

  describe('order', () => {
    it(
      verifies('R10')(
        'within a lane the oldest goes first; over agents in turns: a head waits for at most A - 1 others',
      ),
      async () => {
        for (const n of ['x', 'y', 'z']) await h.agent(n);
        for (let i = 0; i < 6; i++) await h.submit('x');
        for (let i = 0; i < 2; i++) await h.submit('y');
        await h.submit('z');
        expect(await drain(9)).toEqual(['x', 'y', 'z', 'x', 'y', 'x', 'x', 'x', 'x']);
      },
    );

    it(
      verifies('R10', 'D5')('a flood of 200 batch rows to one agent holds a chat to another up for one claim at most'),
      async () => {
        await h.agent('flood', { max_backlog_depth: 500 });
        await h.agent('chat');
        for (let i = 0; i < 200; i++) await h.submit('flood', { class: 'batch' });
        await drain(3);
        await h.submit('chat', { kind: 'chat' });
        const running = await h.start();
        expect(running.agent.name).toBe('chat');
      },
    );

    it(verifies('R11')('a new row is told its place, also after claims, cancels and endings before it'), async () => {
      await h.agent('x', { max_parallel_tasks: 1 });
      await h.agent('y');
      const places: number[] = [];
      const place = async (agent: string, over: Partial<ExecutionRequest> = {}) => {
        const told = await h.write('enqueue', h.enqueueArgs(agent, over));
        if (isRefusal(told)) throw new Error(told.message);
        places.push(told.queue_position);
        return told.execution;
      };
      await place('x');
      await place('x');
      const third = await place('x');
      await place('y');
      await place('x', { class: 'batch' });
      await place('x', { class: 'batch' });
      expect(places.splice(0)).toEqual([1, 2, 3, 1, 1, 2]);
      const first = await h.start();
      await place('x');
      await h.write('cancel', { execution_id: third.id, by: 'x', reason: null });
      await place('x');
      await h.settle(first);
      await h.claim();
      await place('x');
      expect(places).toEqual([3, 3, 4]);
    });

    it(
      verifies('R11')('an agent that was stopped refuses at once, between two enqueues of one group too'),
      async () => {
        const x = await h.agent('x');
        await h.submit('x');
        await h.write('update_agent', { id: x.id, patch: { desired_state: 'stopped' } });
        expect(await h.ask('x')).toMatchObject({ code: 'agent_stopped' });
        await h.write('update_agent', { id: x.id, patch: { desired_state: 'running' } });
        await h.submit('x');
      },
    );

    it(verifies('R10')('offers a quarter of the slots to interactive work first, and leaves none idle'), async () => {
      h.limits.agent_call_limit = 8;
      await h.agent('i', { max_parallel_tasks: 9 });
      await h.agent('b', { max_parallel_tasks: 9 });
      for (let k = 0; k < 9; k++) await h.submit('b', { class: 'batch' });
      for (let k = 0; k < 9; k++) await h.submit('i');
      const order = names(await h.claim(20));
      expect(order).toHaveLength(8);
      // Two interactive ones first, then the two classes in turns.
      expect(order.slice(0, 2)).toEqual(['i', 'i']);
      expect(order.filter((n) => n === 'b').length).toBeGreaterThanOrEqual(3);
      expect(order.filter((n) => n === 'i').length).toBeGreaterThanOrEqual(3);
    });

    it(verifies('R10')('batch that has waited 15 minutes counts as interactive'), async () => {
      await h.agent('b');
      await h.agent('i');
      h.limits.agent_call_limit = 4;
      await h.submit('b', { class: 'batch' });
      h.pass(15 * 60_000 - 1);
      await h.submit('i');
      const [first] = await h.claim(1);
      expect(first!.agent.name).toBe('i');
      h.pass(1);
      await h.submit('i');
      expect(names(await h.claim(1))).toEqual(['b']);
    });

    it(
      verifies('R10')('children of waiting parents go before roots, oldest first, and inherit the class of their root'),
      async () => {
        h.limits.agent_call_limit = 2;
        for (const n of ['p', 'c', 'r']) await h.agent(n, { max_parallel_tasks: 9 });
        await h.submit('p', { class: 'batch' });
        await h.submit('p', { class: 'batch' });
        const [one, two] = [await h.start(), await h.start()];
        await h.submit('r');
        const child2 = await h.call(two, 'c');
        const child1 = await h.call(one, 'c');
        const order = (await h.claim(9)).map((c) => c.execution);
        expect(order.map((e) => e.id)).toEqual([child2.id, child1.id]);
        expect(order.map((e) => e.class)).toEqual(['batch', 'batch']);
      },
    );

    it(verifies('R10')('after four nested claims in a row the next slot goes to a waiting root'), async () => {
      await h.agent('p', { max_parallel_tasks: 9 });
      await h.agent('c', { max_parallel_tasks: 9 });
      await h.agent('root');
      await h.submit('p');
      const parent = await h.start();
      await h.submit('root');
      const order: string[] = [];
      for (let i = 0; i < 8 && !order.includes('root'); i++) {
        await h.call(parent, 'c');
        let c = await h.start();
        order.push(c.agent.name);
        if (c.agent.name === 'root') {
          await h.settle(c);
          c = await h.start();
        }
        await h.settle(c);
        if ((await h.status(parent.execution.id)) === 'waiting') {
          // The resume leaves its slot to the root that is due.
          c = await h.start();
          order.push(c.agent.name);
          await h.settle(c);
        }
        expect(await h.status(parent.execution.id)).toBe('running');
      }
      // Two rounds of child and resume are four nested claims.
      expect(order).toEqual(['c', 'c', 'root']);
    });

    it(verifies('R16')('a pause stops roots only: what runs ends, with the calls it makes'), async () => {
      h.limits.agent_call_limit = 2;
      await h.agent('p');
      await h.agent('c');
      await h.submit('p');
      const parent = await h.start();
      await h.submit('p');
      await h.write('set_paused', { paused: true, by: 'user:1' });
      const child = await h.call(parent, 'c');
      const [c] = await h.claim(9);
      expect(c!.execution.id).toBe(child.id);
      await h.begin(c!);
      await h.settle(c!);
      expect(await h.status(parent.execution.id)).toBe('running');
      await h.settle(parent);
      expect(await h.claim(9)).toEqual([]);
      await h.write('set_paused', { paused: false, by: 'user:1' });
      expect(await h.claim(9)).toHaveLength(1);
    });
  });

  describe('cost', () => {
    it(
      verifies('R10', 'D8')('a claim reads as many rows at 10,000 queued as at 100, and the oldest age is right'),
      async () => {
        for (const n of ['x', 'y']) await h.agent(n, { max_backlog_depth: 10_000, max_parallel_tasks: 100 });
        h.limits.agent_call_limit = 1000;
        const fill = (to: number, from: number) =>
          h.submitMany(
            Array.from({ length: to - from }, (_, k) => ({
              agent: (from + k) % 2 ? 'x' : 'y',
              request: { class: (from + k) % 3 ? 'batch' : 'interactive' },
            })),
          );
        const claim = () =>
          h.write('claim_next', {
            runner_id: 'r1',
            room,
            about,
            max: 1,
            lease_ms: leaseMs,
            fresh: [{ attempt_id: h.id(), token: `token-${h.id()}` }],
            limits: h.limits,
          });
        const first = h.now();
        await fill(100, 0);
        const few = await claim();
        h.pass(60_000);
        await fill(10_000, 100);
        const many = await claim();
        // One row more: the one that runs since the first claim.
        expect(many.rows_scanned).toBeLessThanOrEqual(few.rows_scanned + 1);
        expect(many.rows_scanned).toBeLessThan(12);
        const { fleet } = await h.read('occupancy', { limits: h.limits });
        expect(fleet).toMatchObject({ queued: 9_998, running: 2, oldest_queued_at: first });
        const last = (await h.read('executions', { status: ['queued'], limit: 1 }))[0]!;
        const told = await h.read('waits', { execution_ids: [last.id], limits: h.limits });
        expect(told[last.id]!.position).toBe(1666);
      },
    );
  });
};
