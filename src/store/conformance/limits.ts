/** Every limit of the claim: it holds exactly, it is the reason shown, and its change takes effect at the next claim. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { FaultKind } from '../../contract/credential-states.ts';
import { type WaitReason, waitReasons } from '../../contract/limits.ts';
import type { LoginEvidence } from '../credential-verbs.ts';
import type { OpenEngine } from './engine.ts';
import { failed, type House, openHouse, room } from './house.ts';

/** Each limit in a state where it alone binds. Reasons that no part of the store sets yet are named with their home. */
const binding: Record<WaitReason, ((h: House) => Promise<string>) | 'spending budgets' | 'fan-out'> = {
  fleet_paused: async (h) => {
    await h.write('set_paused', { paused: true, by: 'user:1' });
    return (await h.submit('a')).id;
  },
  agent_stopped: async (h) => {
    const e = await h.submit('a');
    await h.write('update_agent', { id: e.agent_id, patch: { desired_state: 'stopped' } });
    return e.id;
  },
  provider_paused: async (h) => {
    await h.agent('claude', { adapter: 'claude' });
    await h.write('pause_provider', { provider: 'anthropic', paused: true, by: 'user:1' });
    return (await h.submit('claude')).id;
  },
  budget_spent: async (h) => {
    const e = await h.submit('a');
    await h.settle(await h.start(), { cost_usd: 2, cost_kind: 'billed' });
    await h.write('put_budget', { agent_id: e.agent_id, period: 'day', limit_usd: 1, by: 'user:1' });
    return (await h.submit('a')).id;
  },
  not_before: async (h) => {
    const e = await h.submit('a');
    await h.settle(await h.start(), { ...failed('overloaded'), decision: { kind: 'retry', after_ms: 9, why: 'x' } });
    return e.id;
  },
  credentials_exhausted: async (h) => {
    await h.credential('c1', { state: 'limited', until: h.now() + 1_000 });
    await h.agent('claude', { adapter: 'claude' });
    return (await h.submit('claude')).id;
  },
  session_busy: async (h) => {
    const first = await h.submit('a', { kind: 'chat' });
    return (await h.submit('a', { kind: 'chat', session_id: first.session_id })).id;
  },
  no_runner: async (h) => {
    h.pass(60_000);
    return (await h.submit('a')).id;
  },
  memory: async (h) => {
    await h.claim(0, { room: { memory_available: room.memory_total * 0.09 } });
    return (await h.submit('a')).id;
  },
  disk: async (h) => {
    await h.claim(0, { room: { disk_available: h.limits.disk_floor_bytes - 1 } });
    return (await h.submit('a')).id;
  },
  live_bound: async (h) => {
    await h.agent('deep', { max_parallel_tasks: 1 });
    for (let i = 0; i < 4; i++) {
      const e = await h.submit('deep');
      const c = (await h.claim(9)).find((x) => x.execution.id === e.id)!;
      await h.begin(c);
      await h.call(c, 'a');
    }
    return (await h.submit('deep')).id;
  },
  agent_cap: async (h) => {
    await h.agent('one', { max_parallel_tasks: 1 });
    await h.submit('one');
    await h.start();
    return (await h.submit('one')).id;
  },
  credential_cap: async (h) => {
    await h.credential('c1', { max_parallel: 1 });
    await h.agent('claude', { adapter: 'claude' });
    await h.submit('claude');
    await h.start();
    return (await h.submit('claude')).id;
  },
  fan_out_cap: async (h) => {
    const [, second] = await h.fanOut('a', 2, { max_concurrency: 1 });
    return second!.id;
  },
  fleet_cap: async (h) => {
    h.limits.agent_call_limit = 1;
    await h.submit('a');
    await h.start();
    return (await h.submit('a')).id;
  },
  runner_room: async (h) => {
    await h.claim(0, { room: { slots: h.limits.max_depth } });
    return (await h.submit('a')).id;
  },
  turn: async (h) => (await h.submit('a')).id,
};

export const limitsConformance = (open: OpenEngine): void => {
  let h: House;
  beforeEach(async () => {
    h = await openHouse(open);
    await h.agent('a');
    // A runner is there.
    await h.claim(0);
  });
  afterEach(() => h.end());

  it(
    verifies(
      'R19',
      'D6',
    )('a runner that names no places has those of the fleet limit as it is, also after it is raised'),
    async () => {
      const own = { slots: null };
      h.limits.agent_call_limit = 2;
      await h.agent('wide', { max_parallel_tasks: 10 });
      for (let i = 0; i < 6; i++) await h.submit('wide');
      expect(await h.claim(8, { room: own })).toHaveLength(2);
      await h.write('put_setting', { key: 'agent_call_limit', value: '5' });
      expect(await h.claim(8, { room: own })).toHaveLength(3);
      expect(await h.claim(8, { room: own })).toEqual([]);
    },
  );

  describe('reasons', () => {
    for (const reason of waitReasons) {
      const make = binding[reason];
      if (typeof make === 'string') it.skip(`${reason} is set by ${make}, which come later`, () => {});
      else
        it(verifies('R11')(`a row held up by ${reason} says so, has a place, and is not claimed`), async () => {
          const id = await make(h);
          const told = (await h.read('waits', { execution_ids: [id], limits: h.limits }))[id]!;
          expect(told.reason).toBe(reason);
          expect(told.position).toBe(reason === 'session_busy' ? 2 : 1);
          const about = { credentials_exhausted: 'c1 is used up', provider_paused: 'anthropic' } as Record<
            string,
            string
          >;
          expect(told.about).toBe(about[reason] ?? null);
          const { waiting_by_reason } = await h.read('occupancy', { limits: h.limits });
          expect(waiting_by_reason[reason]).toBeGreaterThan(0);
          if (reason !== 'turn') {
            const { claims } = await claimKeepingRoom(h, reason);
            expect(claims.map((c) => c.execution.id)).not.toContain(id);
          }
        });
    }
  });

  describe('counts', () => {
    it(verifies('R9', 'D4')('an agent without a cap runs 3, and every ending frees its slot'), async () => {
      const rows = [];
      for (let i = 0; i < 7; i++) rows.push(await h.submit('a'));
      const three = await h.claim(9);
      expect(three).toHaveLength(3);
      for (const c of three) await h.begin(c);
      await h.settle(three[0]!);
      await h.settle(three[1]!, failed('crashed'));
      await h.write('cancel', { execution_id: rows[2]!.id, by: 'user:1', reason: null });
      await h.settle(three[2]!, { ...failed('cancelled'), decision: { kind: 'end', status: 'cancelled' } });
      expect(await h.claim(9)).toHaveLength(3);
    });

    it(
      verifies('R9', 'D6')('a lowered cap ends nothing and is obeyed at once; a raised one starts what waits'),
      async () => {
        await h.agent('wide', { max_parallel_tasks: 100 });
        for (let i = 0; i < 12; i++) await h.submit('wide');
        const claims = await h.claim(8);
        for (const c of claims) await h.begin(c);
        await h.write('put_setting', { key: 'agent_call_limit', value: '2' });
        const { fleet } = await h.read('occupancy', { limits: h.limits });
        expect(fleet).toMatchObject({ running: 8, queued: 4 });
        for (const c of claims.slice(0, 6)) {
          await h.settle(c);
          expect(await h.claim(9)).toEqual([]);
        }
        await h.settle(claims[6]!);
        expect(await h.claim(9)).toHaveLength(1);
        const { stirred } = await h.written('put_setting', { key: 'agent_call_limit', value: '9' });
        expect(stirred.claimable).toBe(true);
        expect(await h.claim(9)).toHaveLength(3);
      },
    );

    it(
      verifies('D2')('18 calls over 3 agents: nobody fails, nobody runs twice, every waiting row has place and reason'),
      async () => {
        h.limits.agent_call_limit = 8;
        const rows = [];
        for (const name of ['x', 'y', 'z']) await h.agent(name);
        for (let i = 0; i < 18; i++) rows.push(await h.submit(['x', 'y', 'z'][i % 3]!));
        const spawned = new Map<string, number>();
        let live = await h.claim(18);
        while (live.length > 0) {
          const { fleet, agents } = await h.read('occupancy', { limits: h.limits });
          expect(fleet.running).toBeLessThanOrEqual(8);
          for (const a of agents) expect(a.running).toBeLessThanOrEqual(3);
          const waiting = (await h.read('executions', { status: ['queued'], limit: 50 })).map((e) => e.id);
          const told = await h.read('waits', { execution_ids: waiting, limits: h.limits });
          expect(Object.keys(told)).toHaveLength(waiting.length);
          for (const w of Object.values(told)) expect(['agent_cap', 'fleet_cap']).toContain(w.reason);
          for (const c of live) {
            spawned.set(c.execution.id, (spawned.get(c.execution.id) ?? 0) + 1);
            await h.begin(c);
            await h.settle(c);
          }
          live = await h.claim(18);
        }
        expect([...spawned.values()]).toEqual(Array(18).fill(1));
        for (const r of rows) expect(await h.status(r.id)).toBe('success');
      },
    );

    it('the stored fleet limit wins over the one of the start, and says where each value comes from', async () => {
      const ask = { env_call_limit: 5, env_queue_timeout_s: null };
      expect(await h.read('fleet_limits', ask)).toMatchObject({
        agent_call_limit: 5,
        agent_call_limit_source: 'environment',
        queue_timeout_s: 3600,
        queue_timeout_source: 'default',
        paused: false,
      });
      await h.write('put_setting', { key: 'agent_call_limit', value: '7' });
      await h.write('set_paused', { paused: true, by: 'user:1' });
      expect(await h.read('fleet_limits', ask)).toMatchObject({
        agent_call_limit: 7,
        agent_call_limit_source: 'setting',
        paused: true,
      });
    });
  });

  describe('credentials', () => {
    it('lends the least recently used good one that has room, and stamps it on the attempt', async () => {
      await h.credential('c1', { max_parallel: 1 });
      await h.credential('c2', { max_parallel: 1 });
      await h.credential('c3', { state: 'rejected' });
      await h.agent('claude', { adapter: 'claude', max_parallel_tasks: 9 });
      for (let i = 0; i < 3; i++) await h.submit('claude');
      const [one, two, none] = await h.claim(3);
      expect([one!.credential?.id, two!.credential?.id, none]).toEqual(['c1', 'c2', undefined]);
      await h.begin(two!);
      await h.settle(two!);
      const [next] = await h.claim();
      expect(next!.credential?.id).toBe('c2');
    });

    it('uses a limited one again when its reset has passed, and wakes the dispatcher for it', async () => {
      await h.credential('c1', { state: 'limited', until: h.now() + 60_000 });
      await h.agent('claude', { adapter: 'claude' });
      const e = await h.submit('claude');
      const { next_wake } = await claimKeepingRoom(h, 'turn');
      expect(next_wake).toBe(h.now() + 60_000);
      h.pass(60_000);
      const [c] = await h.claim();
      expect(c!.execution.id).toBe(e.id);
      await h.begin(c!);
      await h.settle(c!, { login: { failure: null, worked: true, throttled: false, windows: null } });
      expect(await h.read('credentials', {})).toMatchObject([{ state: 'ok', until: null }]);
    });

    it('appends the evidence of a failure and changes the state; without evidence it changes nothing', async () => {
      await h.credential('c1');
      await h.agent('claude', { adapter: 'claude' });
      await h.submit('claude');
      await h.submit('claude');
      const [bad, worse] = [await h.start(), await h.start()];
      await h.settle(bad, failed('oom_killed'));
      expect(await h.read('credential_events', { limit: 9 })).toEqual([]);
      await h.settle(worse, {
        ...failed('usage_limit'),
        login: blames({ kind: 'limit', reset_at: h.now() + 9, evidence: 'rate_limit_event' }),
      });
      expect(await h.read('credentials', {})).toMatchObject([{ state: 'limited', until: h.now() + 9 }]);
      expect(await h.read('credential_events', { limit: 9 })).toMatchObject([
        { credential_id: 'c1', execution_id: worse.execution.id, state: 'limited', cause: 'usage_limit' },
      ]);
    });
  });
};

const blames = (failure: { kind: FaultKind; reset_at: number | null; evidence: string }): LoginEvidence => ({
  failure: { ...failure, blames: 'credential', item: null },
  worked: false,
  throttled: false,
  windows: null,
});

/** A claim for as many as there are, with the room the runner told of last. */
const claimKeepingRoom = async (h: House, reason: WaitReason) => {
  const [r] = await h.read('runners', {});
  return h.write('claim_next', {
    runner_id: reason === 'no_runner' ? 'none' : 'r1',
    room: reason === 'no_runner' ? { ...room, slots: 1 } : r!.room!,
    about: { host: 'h1', boot_id: 'b1', version: '1', isolation: 'none', cgroup: 'none' },
    max: 9,
    lease_ms: 45_000,
    fresh: Array.from({ length: 9 }, () => ({ attempt_id: h.id(), token: `token-${h.id()}` })),
    limits: h.limits,
  });
};
