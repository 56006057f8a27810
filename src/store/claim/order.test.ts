import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimAgent, claimCredential, claimRunner, claimWorld } from '../../../test/support/claim-world.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { agedClass, type Head, interactiveShare, next, type Queue, servedKey } from './order.ts';
import { firstResume, type Pending } from './resumes.ts';

const head = (id: string, agent_id: string, over: Partial<Head> = {}): Head => ({
  id,
  agent_id,
  depth: 0,
  nested: false,
  wanted: null,
  lane: 'interactive',
  as: 'interactive',
  ...over,
});
const child = (id: string, agent_id: string) => head(id, agent_id, { nested: true, depth: 1, lane: 'nested' });
const pending = (id: string, agent_id: string, credential_id: string | null = null): Pending => ({
  id,
  agent_id,
  agent_name: agent_id,
  credential_id,
  class: 'interactive',
});
const queue = (over: Partial<Queue>): Queue => ({
  pending: [],
  children: [],
  roots: [],
  served: new Map(),
  nestedInRow: 0,
  ...over,
});
const runner = claimRunner('r');
const id = (n: ReturnType<typeof next>) => (n === null ? null : n.kind === 'resume' ? n.pending.id : n.head.id);

describe('order', () => {
  it(verifies('R10')('resumes, then children by age, then roots'), () => {
    const w = claimWorld(['a', 'b', 'c'].map((a) => claimAgent(a)));
    const q = { pending: [pending('9', 'a')], children: [child('7', 'b'), child('8', 'b')], roots: [head('1', 'c')] };
    expect(id(next(w, queue(q), runner))).toBe('9');
    expect(id(next(w, queue({ ...q, pending: [] }), runner))).toBe('7');
    expect(id(next(w, queue({ roots: q.roots }), runner))).toBe('1');
    expect(id(next(w, queue(q), null))).toBe('9');
    expect(next(w, queue({ ...q, pending: [] }), null)).toBeNull();
  });

  it(verifies('R10')('after four nested claims a root goes first, if one can go at all'), () => {
    const w = claimWorld([claimAgent('a'), claimAgent('full', { cap: 1 })]);
    w.running.agent.set('full', 1);
    const q = { pending: [pending('9', 'a')], roots: [head('1', 'a')] };
    expect(id(next(w, queue({ ...q, nestedInRow: 3 }), runner))).toBe('9');
    expect(id(next(w, queue({ ...q, nestedInRow: 4 }), runner))).toBe('1');
    expect(id(next(w, queue({ ...q, roots: [head('1', 'full')], nestedInRow: 4 }), runner))).toBe('9');
  });

  it(
    verifies('R10')('with A agents waiting in a class, a head is claimed after at most A - 1 others of that class'),
    () => {
      fc.assert(
        fc.property(
          fc.integer({ min: 1, max: 6 }),
          fc.array(fc.record({ agent: fc.nat({ max: 5 }), batch: fc.boolean() }), { minLength: 1, maxLength: 60 }),
          fc.array(fc.nat({ max: 20 }), { minLength: 12, maxLength: 12 }),
          (fleetCap, arrivals, servedBefore) => {
            const names = [0, 1, 2, 3, 4, 5].map((n) => `a${n}`);
            const w = claimWorld(
              names.map((n) => claimAgent(n)),
              { fleetCap },
            );
            const served = new Map<string, number>();
            names.forEach((n, i) => {
              served.set(servedKey(n, 'batch'), servedBefore[i]!);
              served.set(servedKey(n, 'interactive'), servedBefore[i + 6]!);
            });
            let seq = 100;
            const lanes = new Map<string, Head[]>();
            arrivals.forEach((a, i) => {
              const as = a.batch ? 'batch' : 'interactive';
              const key = servedKey(`a${a.agent}`, as);
              const h = head(String(i).padStart(3, '0'), `a${a.agent}`, { lane: as, as });
              lanes.set(key, [...(lanes.get(key) ?? []), h]);
            });
            // Per head: how many of its class went before since it became the head.
            const passed = new Map<string, number>();
            const agentsIn = (as: Head['as']) =>
              new Set([...lanes.values()].flat().flatMap((h) => (h.as === as ? [h.agent_id] : []))).size;
            const most = { interactive: agentsIn('interactive') - 1, batch: agentsIn('batch') - 1 };
            for (;;) {
              const roots = [...lanes.values()].flatMap((l) => l[0] ?? []);
              const n = next(w, queue({ roots, served }), runner);
              if (n?.kind !== 'root') {
                expect(roots).toEqual([]);
                return;
              }
              expect(passed.get(n.head.id) ?? 0).toBeLessThanOrEqual(most[n.head.as]);
              for (const h of roots)
                if (h.as === n.head.as && h !== n.head) passed.set(h.id, (passed.get(h.id) ?? 0) + 1);
              lanes.get(servedKey(n.head.agent_id, n.head.as))!.shift();
              served.set(servedKey(n.head.agent_id, n.head.as), ++seq);
            }
          },
        ),
      );
    },
  );

  it('an agent whose cap is full is passed over, not waited for', () => {
    const w = claimWorld([claimAgent('full', { cap: 1 }), claimAgent('free')]);
    w.running.agent.set('full', 1);
    expect(id(next(w, queue({ roots: [head('1', 'full'), head('2', 'free')] }), runner))).toBe('2');
  });

  it(verifies('R10')('the share of interactive work: a quarter, at least one, at most all but one'), () => {
    expect([1, 2, 3, 4, 7, 8, 100].map(interactiveShare)).toEqual([0, 1, 1, 1, 1, 2, 25]);
    const w = claimWorld([claimAgent('b'), claimAgent('i')], { fleetCap: 4 });
    const roots = [head('1', 'b', { lane: 'batch', as: 'batch' }), head('2', 'i')];
    expect(id(next(w, queue({ roots }), runner))).toBe('2');
    w.running.interactive = 1;
    expect(id(next(w, queue({ roots }), runner))).toBe('1');
    expect(id(next(w, queue({ roots: [roots[0]!] }), runner))).toBe('1');
  });

  it('batch counts as interactive after its time, not before', () => {
    expect(agedClass('batch', 15 * 60_000 - 1)).toBe('batch');
    expect(agedClass('batch', 15 * 60_000)).toBe('interactive');
    expect(agedClass('interactive', 0)).toBe('interactive');
  });
});

describe('pending resumes', () => {
  it(
    verifies(
      'R10',
      'R17',
    )('one that cannot go counts as using its agent and credential for all behind, younger resumes too (F14)'),
    () => {
      const w = claimWorld([claimAgent('a', { cap: 1 }), claimAgent('b', { adapter: 'claude' })], {
        credentials: [claimCredential('k', { max_parallel: 1 })],
      });
      // Its credential is in use; its agent has room, and the younger one and the root would take it.
      w.running.credential.set('k', 1);
      expect(firstResume(w, [pending('1', 'a', 'k'), pending('2', 'a')])).toBeNull();
      expect(next(w, queue({ pending: [pending('1', 'a', 'k')], roots: [head('3', 'a')] }), runner)).toBeNull();
      // Its agent is in use; its credential has room, and another agent would borrow it.
      w.running.credential.clear();
      w.running.agent.set('a', 1);
      expect(next(w, queue({ pending: [pending('1', 'a', 'k')], roots: [head('3', 'b')] }), runner)).toBeNull();
      w.running.agent.clear();
      expect(id(next(w, queue({ pending: [pending('1', 'a', 'k')], roots: [head('3', 'b')] }), runner))).toBe('1');
    },
  );

  it(
    verifies('R16')(
      'asks for counts only: a pause, a stopped or deleted agent, a limited credential and a full host do not hold it up',
    ),
    () => {
      const w = claimWorld([claimAgent('a', { stopped: true })], {
        paused: true,
        credentials: [claimCredential('k', { state: 'rejected' })],
      });
      expect(firstResume(w, [pending('1', 'a', 'k')])?.id).toBe('1');
      expect(firstResume(w, [pending('1', 'deleted', 'gone')])?.id).toBe('1');
    },
  );

  it('the fleet is not kept: every ending frees a slot of it', () => {
    const w = claimWorld([claimAgent('a', { cap: 1 }), claimAgent('b')], { fleetCap: 2 });
    w.running.agent.set('a', 1);
    w.running.fleet = 1;
    expect(id(next(w, queue({ pending: [pending('1', 'a')], roots: [head('3', 'b')] }), runner))).toBe('3');
  });
});
