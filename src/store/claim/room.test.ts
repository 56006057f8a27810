import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimAgent, claimRunner, claimWorld } from '../../../test/support/claim-world.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { roomAnywhere, roomReason } from './room.ts';
import { addLive, type Candidate } from './world.ts';

const GB = 1024 ** 3;
const at = (depth: number, over: Partial<Candidate> = {}): Candidate => ({
  id: 'e',
  agent_id: 'a',
  depth,
  nested: depth > 0,
  wanted: null,
  ...over,
});
const alive = { agent_id: 'a', credential_id: null, runner_id: 'r', class: 'batch' as const, n: 1 };

describe('room', () => {
  it(
    verifies('R19')(
      'whoever waits can always be helped: a call of the deepest live row has room, by places and by bytes',
    ),
    () => {
      fc.assert(
        fc.property(
          fc.integer({ min: 1, max: 6 }),
          fc.integer({ min: 0, max: 4 }),
          fc.constantFrom(0, 1, 3, 20),
          fc.array(fc.nat({ max: 6 }), { maxLength: 40 }),
          (maxDepth, spare, gb, wanted) => {
            const w = claimWorld([claimAgent('a', { memory_bytes: gb * GB })], { maxDepth });
            const slots = maxDepth + 1 + spare;
            const runner = claimRunner('r', { slots });
            let deepest = -1;
            for (const depth of wanted) {
              // A row at depth d is there only because one at d - 1 called it.
              if (depth > maxDepth || depth > deepest + 1) continue;
              if (roomReason(w, at(depth), runner) !== null) continue;
              addLive(w, alive);
              deepest = Math.max(deepest, depth);
            }
            if (deepest < maxDepth) expect(roomReason(w, at(deepest + 1), runner)).toBeNull();
            expect(w.live.runner.get('r') ?? 0).toBeLessThanOrEqual(slots);
          },
        ),
      );
    },
  );

  it('one place less than the levels need starts no root', () => {
    const w = claimWorld([claimAgent('a')], { maxDepth: 3 });
    expect(roomReason(w, at(0), claimRunner('r', { slots: 3 }))).toBe('runner_room');
    expect(roomReason(w, at(0), claimRunner('r', { slots: 4 }))).toBeNull();
    expect(roomReason(w, at(3), claimRunner('r', { slots: 1 }))).toBeNull();
  });

  it('the floors of the host hold up roots, never nested work, which alone can end what waits', () => {
    const w = claimWorld([claimAgent('a')]);
    const low = claimRunner('r', { memory_available: 6 * GB });
    expect(roomReason(w, at(0), low)).toBe('memory');
    expect(roomReason(w, at(1), low)).toBeNull();
    expect(roomReason(w, at(0, { nested: false }), claimRunner('r', { disk_available: GB }))).toBe('disk');
    expect(roomReason(w, at(1), claimRunner('r', { disk_available: GB }))).toBeNull();
  });

  it('an agent whose limit is larger than the host may run alone, and no second beside it', () => {
    const w = claimWorld([claimAgent('a', { memory_bytes: 50 * GB })]);
    const runner = claimRunner('r');
    expect(roomReason(w, at(0), runner)).toBeNull();
    addLive(w, alive);
    expect(roomReason(w, at(0), runner)).toBe('memory');
    expect(roomReason(w, at(1), runner)).toBeNull();
  });

  it('of several runners the nearest one gives the reason; one with room is enough; none is said so', () => {
    const w = claimWorld([claimAgent('a')]);
    const low = claimRunner('low', { memory_available: 0 });
    const full = claimRunner('full', { slots: 1 });
    expect(roomAnywhere(w, at(0), [])).toBe('no_runner');
    expect(roomAnywhere(w, at(0), [low, full])).toBe('runner_room');
    expect(roomAnywhere(w, at(0), [low])).toBe('memory');
    expect(roomAnywhere(w, at(0), [low, full, claimRunner('r')])).toBeNull();
  });
});
