/** Weather (R40): what two agents meet on one provider holds up that provider alone, and lets go by itself, a probe at a time. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { weatherLimits } from '../../contract/weather.ts';
import type { ClaimRow } from '../store.ts';
import type { OpenEngine } from './engine.ts';
import { failed, type House, leaseMs, openHouse, room } from './house.ts';

export const weatherConformance = (open: OpenEngine): void => {
  let h: House;
  beforeEach(async () => {
    h = await openHouse(open);
    for (const name of ['a', 'b', 'c']) await h.agent(name, { adapter: 'claude', max_parallel_tasks: 9 });
    await h.agent('elsewhere', { adapter: 'claude', env: { ANTHROPIC_BASE_URL: 'http://gateway.test:9/team' } });
    await h.claim(0);
  });
  afterEach(() => h.end());

  const overload = {
    ...failed('overloaded'),
    verdict: { cause: 'overloaded' as const, retryable: true },
    weather: { family: 'overload' as const, evidence: '529 overloaded_error' },
  };
  const storm = async (claim: ClaimRow) => {
    await h.settle(claim, overload);
    return h.row(claim.execution.id);
  };
  /** Claims the run of this agent that waits first, and begins it. */
  const begin = async (agent: string): Promise<ClaimRow> => {
    await h.submit(agent);
    const c = (await h.claim(9)).find((x) => x.agent.name === agent)!;
    await h.begin(c);
    return c;
  };
  const incidents = () => h.read('incidents', { limit: 9 });
  const items = async () =>
    (await h.read('operator_items', { status: 'open', limit: 9 })).filter((i) => i.dedup_key.startsWith('incident:'));
  /** An open incident with one run of a and one of b parked by it. */
  const opened = async () => {
    const [a, b] = [await begin('a'), await begin('b')];
    await storm(a);
    await storm(b);
    return [a.execution.id, b.execution.id];
  };
  const untilNext = async () => {
    const [i] = await incidents();
    h.pass(i!.next_at! - h.now());
  };

  describe('weather', () => {
    it(verifies('R40')('one agent alone is no weather, and a success between two failures neither'), async () => {
      const [a, again, b, well] = [await begin('a'), await begin('a'), await begin('b'), await begin('c')];
      await storm(a);
      expect(await storm(again)).toMatchObject({ status: 'failed', cause: 'overloaded' });
      await h.settle(well);
      await storm(b);
      expect(await incidents()).toEqual([]);
      h.pass(weatherLimits.windowMs + 1);
      await storm(await begin('c'));
      expect(await incidents()).toEqual([]);
    });

    it(
      verifies('R40')('two agents are one incident: one row, one item, and only their provider is held up'),
      async () => {
        const running = await begin('c');
        const [a, b] = await opened();
        expect(await incidents()).toMatchObject([
          { provider: 'anthropic', state: 'open', cause: 'overloaded', failures: 2, agents: ['a', 'b'], probes: 0 },
        ]);
        await storm(running);
        expect(await incidents()).toMatchObject([{ failures: 3, agents: ['a', 'b', 'c'] }]);
        expect(await items()).toMatchObject([{ count: 1, agent_name: null }]);
        const waiting = await h.submit('c');
        // The first failed before it was an incident; the one that made it so, and those after, lose nothing.
        expect([await h.status(a!), await h.status(b!)]).toEqual(['failed', 'queued']);
        for (const id of [b!, running.execution.id, waiting.id]) expect(await h.reason(id)).toBe('provider_paused');
        expect((await h.read('waits', { execution_ids: [b!], limits: h.limits }))[b!]).toMatchObject({
          until: (await incidents())[0]!.next_at,
          about: 'anthropic',
        });
        const other = await h.submit('elsewhere');
        expect((await h.claim(9)).map((c) => c.execution.id)).toEqual([other.id]);
      },
    );

    it(
      verifies('R40')('one probe at a time, at growing distance; a probe that says nothing changes no distance'),
      async () => {
        await opened();
        for (let i = 0; i < 5; i++) await h.submit('c');
        const gaps: number[] = [];
        for (let i = 0; i < 6; i++) {
          const before = h.now();
          await untilNext();
          gaps.push(h.now() - before);
          const probes = await h.claim(9);
          expect(probes).toHaveLength(1);
          expect(await h.claim(9)).toEqual([]);
          expect((await incidents())[0]).toMatchObject({ probe: { attempt_id: probes[0]!.attempt_id }, next_at: null });
          await h.begin(probes[0]!);
          expect(await storm(probes[0]!)).toMatchObject({ status: 'queued' });
        }
        for (let i = 1; i < gaps.length; i++) {
          const most = Math.min(weatherLimits.longestProbeMs, weatherLimits.firstProbeMs * 2 ** i);
          expect(gaps[i]).toBeGreaterThanOrEqual(most / 2);
          expect(gaps[i]).toBeLessThanOrEqual(most);
        }
        await untilNext();
        const [crashed] = await h.claim(9);
        await h.begin(crashed!);
        await h.settle(crashed!, failed('crashed'));
        h.pass(weatherLimits.silentProbeMs);
        const [cancelled] = await h.claim(9);
        expect(cancelled).toBeDefined();
        await h.write('cancel', { execution_id: cancelled!.execution.id, by: 'user:1', reason: null });
        expect(await h.claim(9)).toHaveLength(1);
        expect(await items()).toHaveLength(1);
      },
    );

    it(
      verifies('R40')('a probe that went well reopens in paces, and a quiet minute closes incident and item'),
      async () => {
        await opened();
        for (let i = 0; i < 6; i++) await h.submit('c');
        await untilNext();
        const [probe] = await h.claim(9);
        await h.begin(probe!);
        await h.settle(probe!);
        expect(await incidents()).toMatchObject([{ state: 'reopening' }]);
        expect(await h.claim(9)).toHaveLength(1);
        expect(await h.claim(9)).toEqual([]);
        h.pass(weatherLimits.paceMs);
        expect(await h.claim(9)).toHaveLength(1);
        h.pass(weatherLimits.reopeningMs);
        await h.write('expire_budgets', { limits: h.limits, max: 9 });
        expect(await incidents()).toMatchObject([{ state: 'closed', closed_why: 'runs went well again' }]);
        expect(await items()).toEqual([]);
        expect((await h.claim(9)).length).toBeGreaterThan(1);
        const { events } = await h.read('events_after', { after: 0, limit: 500 });
        expect(events.map((e) => e.type).filter((t) => t.startsWith('incident.'))).toEqual([
          'incident.opened',
          'incident.probing',
          'incident.reopening',
          'incident.closed',
        ]);
      },
    );

    it(verifies('R40')('a probe whose model speaks is sign enough: a run may take an hour'), async () => {
      await opened();
      await untilNext();
      const [probe] = await h.claim(9);
      await h.begin(probe!);
      const renew = (model_spoke?: boolean) =>
        h.write('renew', {
          runner_id: 'r1',
          room,
          lease_ms: leaseMs,
          attempts: [
            {
              attempt: probe!.attempt_id,
              token: probe!.token,
              proof: null,
              started_at: null,
              cpu_ms: null,
              rss_bytes: null,
              ...(model_spoke !== undefined && { model_spoke }),
            },
          ],
        });
      await renew();
      expect(await incidents()).toMatchObject([{ state: 'open' }]);
      await renew(true);
      expect(await incidents()).toMatchObject([{ state: 'reopening', probe: null }]);
      await renew(true);
      expect(await h.status(probe!.execution.id)).toBe('running');
    });

    it('what was let go while reopening and met the same again closes the door again, further away', async () => {
      await opened();
      for (let i = 0; i < 3; i++) await h.submit('c');
      await untilNext();
      const [probe] = await h.claim(9);
      await h.begin(probe!);
      await h.settle(probe!);
      const [let_go] = await h.claim(9);
      await h.begin(let_go!);
      h.pass(1_000);
      expect(await storm(let_go!)).toMatchObject({ status: 'queued' });
      const [i] = await incidents();
      expect(i).toMatchObject({ state: 'open' });
      expect(i!.next_at! - h.now()).toBeGreaterThanOrEqual(weatherLimits.firstProbeMs);
      expect(await items()).toMatchObject([{ count: 1 }]);
    });

    it('nobody who comes for half an hour lets it go: the next run finds out', async () => {
      const [, b] = await opened();
      await h.write('cancel', { execution_id: b!, by: 'user:1', reason: null });
      h.pass(weatherLimits.firstProbeMs + weatherLimits.forgottenMs);
      await h.write('expire_budgets', { limits: h.limits, max: 9 });
      expect(await incidents()).toMatchObject([{ state: 'closed' }]);
      expect(await items()).toEqual([]);
    });

    it(verifies('R40', 'R12')('time under an incident does not spend the queue budget'), async () => {
      await opened();
      const waits = await h.submit('c', {}, { queue_budget_ms: 10_000 });
      await h.write('pause_provider', { provider: 'anthropic', paused: true, by: 'user:1' });
      const expire = async () => (await h.write('expire_budgets', { limits: h.limits, max: 9 })).expired;
      h.pass(20_000);
      expect(await expire()).toEqual([]);
      // The incident is forgotten, the pause of a person goes on, and that spends it.
      h.pass(weatherLimits.firstProbeMs + weatherLimits.forgottenMs);
      await expire();
      h.pass(11_000);
      expect(await expire()).toEqual([waits.id]);
      expect(await h.row(waits.id)).toMatchObject({ status: 'failed', cause: 'provider_paused' });
    });

    it(
      verifies('R24')('what was parked is no try, but one that always breaks its provider ends in the end'),
      async () => {
        const [, b] = await opened();
        for (let parks = 1; parks < weatherLimits.parks; parks++) {
          await untilNext();
          const [probe] = await h.claim(1);
          await h.begin(probe!);
          expect(await storm(probe!)).toMatchObject({ status: 'queued', parked: parks + 1, attempt: parks + 1 });
        }
        await untilNext();
        const [last] = await h.claim(1);
        await h.begin(last!);
        expect(last!.execution.id).toBe(b);
        expect(await storm(last!)).toMatchObject({ status: 'failed', cause: 'overloaded' });
      },
    );

    it('a probe that is cancelled by a person ends so, and is not parked', async () => {
      await opened();
      await untilNext();
      const [probe] = await h.claim(9);
      await h.begin(probe!);
      await h.write('cancel', { execution_id: probe!.execution.id, by: 'user:1', reason: null });
      expect(await storm(probe!)).toMatchObject({ status: 'failed' });
    });
  });

  describe('a host below its floors', () => {
    it(
      verifies('R42', 'R9')('starts nothing new, tells of it once per episode, and again for the next one'),
      async () => {
        const look = () => h.write('expire_budgets', { limits: h.limits, max: 9 });
        const told = async () =>
          (await h.read('operator_items', { status: 'open', limit: 9 })).filter((i) => i.dedup_key.startsWith('host_'));
        const at = async (over: { memory_available?: number; disk_available?: number }) => {
          await h.claim(0, { room: over });
          await look();
          await look();
        };
        const disk = h.limits.disk_floor_bytes;
        await at({ disk_available: disk - 1 });
        expect(await told()).toMatchObject([
          { dedup_key: 'host_disk:r1', priority: 'high', count: 1, agent_name: null },
        ]);
        const waits = await h.submit('a');
        expect(await h.claim(1, { room: { disk_available: disk - 1 } })).toEqual([]);
        expect(await h.reason(waits.id)).toBe('disk');
        // Just above the floor is the same episode.
        await at({ disk_available: disk + 1 });
        await at({ disk_available: disk - 1 });
        expect(await told()).toMatchObject([{ count: 1 }]);
        await at({ disk_available: 2 * disk });
        expect(await told()).toEqual([]);
        await at({ memory_available: 0.05 * room.memory_total });
        expect(await told()).toMatchObject([
          { dedup_key: 'host_memory:r1', title: expect.stringContaining('h1: too little memory') },
        ]);
      },
    );
  });

  describe('a pause of a provider', () => {
    it(verifies('R16')('starts no root work there and nothing else, and goes on at once'), async () => {
      const parent = await begin('a');
      const pause = (paused: boolean, provider = 'anthropic') =>
        h.write('pause_provider', { provider, paused, by: 'user:1' });
      expect(await pause(true)).toEqual({ paused: true });
      const root = await h.submit('b');
      const child = await h.call(parent, 'c');
      const other = await h.submit('elsewhere');
      expect(await h.reason(root.id)).toBe('provider_paused');
      expect((await h.claim(9)).map((c) => c.execution.id).sort()).toEqual([child.id, other.id].sort());
      expect(await h.read('providers', {})).toMatchObject([
        { provider: 'anthropic', agents: ['a', 'b', 'c'], paused_by: 'user:1', running: 1 },
        { provider: 'http://gateway.test:9', agents: ['elsewhere'], paused_by: null, running: 1 },
      ]);
      await pause(false);
      expect((await h.claim(9)).map((c) => c.execution.id)).toEqual([root.id]);
      expect(await pause(true, 'nowhere')).toMatchObject({ refused: true, code: 'not_found' });
    });

    it('resuming one with an incident lets a probe go at once', async () => {
      await opened();
      expect(await h.claim(9)).toEqual([]);
      await h.write('pause_provider', { provider: 'anthropic', paused: false, by: 'user:1' });
      expect(await h.claim(9)).toHaveLength(1);
    });
  });
};
