/** Sessions: whose turn goes on with what its CLI remembers, and when a fresh one begins (R18). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { isRefusal } from '../../contract/errors.ts';
import type { OpenEngine } from './engine.ts';
import { type House, openHouse } from './house.ts';

export const sessionsConformance = (open: OpenEngine): void => {
  let h: House;
  beforeEach(async () => {
    h = await openHouse(open);
    for (const n of ['a', 'b', 'c']) await h.agent(n, { max_parallel_tasks: 1 });
  });
  afterEach(() => h.end());

  describe('sessions', () => {
    it(
      verifies('R18')('one turn per session: the next waits for the one before and goes on with its CLI session'),
      async () => {
        await h.agent('wide', { max_parallel_tasks: 9 });
        const one = await h.submit('wide', { kind: 'chat' });
        const two = await h.submit('wide', { kind: 'chat', session_id: one.session_id });
        const claims = await h.claim(9);
        expect(claims.map((x) => x.execution.id)).toEqual([one.id]);
        await h.begin(claims[0]!);
        await h.settle(claims[0]!, { facts: { stream: { session_id: 's9', cost_usd: 3 } } });
        const [next] = await h.claim(9);
        expect(next).toMatchObject({ execution: { id: two.id, cli_session_id: 's9' }, session_cost_before: 3 });
      },
    );

    it(
      verifies('R18')('parallel chats without a session: the main one when idle, else fresh ones, all at once'),
      async () => {
        await h.agent('wide', { max_parallel_tasks: 9 });
        const rows = [];
        for (let i = 0; i < 3; i++) rows.push(await h.submit('wide', { kind: 'chat' }));
        expect(new Set(rows.map((r) => r.session_id)).size).toBe(3);
        const claims = await h.claim(9);
        expect(claims).toHaveLength(3);
        for (const c of claims) {
          await h.begin(c);
          await h.settle(c);
        }
        expect((await h.submit('wide', { kind: 'chat' })).session_id).toBe(rows[0]!.session_id);
      },
    );

    it(
      verifies('R18')(
        'a call has a session per (caller session, callee); a named busy one is refused, typed, with no row',
      ),
      async () => {
        await h.agent('wide', { max_parallel_tasks: 9 });
        await h.submit('a');
        const parent = await h.start();
        const caller = { execution_id: parent.execution.id, token: parent.token };
        const one = await h.call(parent, 'wide', { kind: 'chat' });
        await h.settle(await h.start());
        const two = await h.call(parent, 'wide', { kind: 'chat' });
        expect(two.session_id).toBe(one.session_id);
        expect(await h.ask('wide', { kind: 'chat', session_id: two.session_id }, { caller })).toMatchObject({
          code: 'session_busy',
          retryAfterMs: 5_000,
        });
        // Another call at once does not wait for the first: it has a fresh one.
        const three = await h.ask('wide', { kind: 'chat' }, { caller });
        expect(isRefusal(three) ? null : three.session_id).not.toBe(two.session_id);
        expect(await h.ask('wide', { session_id: 'nonsense' })).toMatchObject({ code: 'session_not_found' });
      },
    );

    it('a CLI session given by a client is resumed in a fresh session of ours', async () => {
      const e = await h.submit('a', { resume_session_id: 'cli-7' });
      expect((await h.start()).execution).toMatchObject({ id: e.id, cli_session_id: 'cli-7' });
    });
  });
};
