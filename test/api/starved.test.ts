/** Slow is not dead: what gets no CPU for ten minutes keeps its lease, and so does a whole host that comes back in its grace. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stallLimits } from '../../src/contract/limits.ts';
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';
import { type Fleet, openFleet } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
let work: ClaimedWork;
beforeEach(async () => {
  fleet = await openFleet();
  await fleet.agent('slow');
  await fleet.api('POST', '/api/agents/slow/task', { message: 'x', async_mode: true });
  [work] = (await fleet.runner.claim(1)) as [ClaimedWork];
  await fleet.runner.begin(work);
  await fleet.runner.renew([work]);
});
afterEach(() => fleet.end());

const row = () => fleet.row(work.execution_id);

describe('starved of CPU for ten minutes', () => {
  it(verifies('D32')('an agent is not declared dead: its runner renews for it, however little it does'), async () => {
    for (let s = 0; s < 600; s += 10) {
      await fleet.clock.advance(10_000);
      // The same few ms of CPU as at the start, each time.
      expect((await fleet.runner.renew([work])).results).toMatchObject([{ state: 'ok' }]);
    }
    expect(await row()).toMatchObject({ status: 'running', silent: false, attempts: [{ number: 1 }] });
    // No limit for silence is short enough to end it either.
    const shortest = Math.min(...Object.values(stallLimits).flatMap((l) => (l.seconds === null ? [] : [l.seconds])));
    expect(shortest).toBeGreaterThan(600);
    expect(await fleet.runner.finish(work)).toBe('settled');
    expect(await row()).toMatchObject({ status: 'success' });
  });

  it(
    verifies('D32', 'R23')('with its runner it is silent, keeps its slots, and goes on when it is heard of again'),
    async () => {
      for (let s = 0; s < 600; s += 10) await fleet.clock.advance(10_000);
      // A sweep that was under way while the clock was moved looks again at its next turn.
      const later = async () => {
        await fleet.clock.advance(1_000);
        return row();
      };
      await fleet.until(later, (r) => r.silent === true);
      expect(await row()).toMatchObject({ status: 'running' });
      expect((await fleet.runner.renew([work])).results).toMatchObject([{ state: 'ok' }]);
      expect(await row()).toMatchObject({ status: 'running', silent: false });
      expect(await fleet.runner.finish(work)).toBe('settled');
      expect(await row()).toMatchObject({ status: 'success', attempts: [{ number: 1 }] });
    },
  );
});
