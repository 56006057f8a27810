import { expect, it } from 'vitest';
import { manualClock } from '../../test/support/manual-clock.ts';
import { verifies } from '../../test/support/verifies.ts';
import { startRunClock } from './run-clock.ts';

it(verifies('R7')('pauses while waiting and fires the deadline after the run time alone'), async () => {
  const clock = manualClock();
  let fired = 0;
  const run = startRunClock(clock, 10_000, () => fired++);
  await clock.advance(6_000);
  run.setWaiting(true);
  await clock.advance(3_600_000);
  expect(fired).toBe(0);
  run.setWaiting(false);
  await clock.advance(3_999);
  expect(fired).toBe(0);
  await clock.advance(1);
  expect(fired).toBe(1);
  expect(run.read()).toEqual({ run_ms: 10_000, waiting_ms: 3_600_000, waiting: false });
});

it(verifies('R7', 'D35')('does not fire for a jump of the wall clock'), async () => {
  const clock = manualClock();
  let fired = 0;
  const run = startRunClock(clock, 10_000, () => fired++);
  clock.jump(86_400_000);
  await clock.advance(1_000);
  expect(fired).toBe(0);
  expect(run.read().run_ms).toBe(1_000);
});

it('goes on from what had passed before a restart', async () => {
  const clock = manualClock();
  let fired = 0;
  startRunClock(clock, 10_000, () => fired++, { run_ms: 9_500, waiting_ms: 70, waiting: false });
  await clock.advance(500);
  expect(fired).toBe(1);
});

it(verifies('R7')('takes off what the server says calls have taken, those it never heard of too'), async () => {
  const clock = manualClock();
  let fired = 0;
  const run = startRunClock(clock, 10_000, () => fired++);
  await clock.advance(9_000);
  // Two calls of 2.5 s each, both between two renewals.
  run.setWaiting(false, 5_000);
  expect(run.read()).toEqual({ run_ms: 4_000, waiting_ms: 5_000, waiting: false });
  await clock.advance(5_999);
  expect(fired).toBe(0);
  await clock.advance(1);
  expect(fired).toBe(1);
});

it(verifies('R7')('looks once more before the deadline: a call that has just begun stops the clock'), async () => {
  const clock = manualClock();
  let fired = 0;
  let heard = 0;
  const run = startRunClock(
    clock,
    10_000,
    () => fired++,
    undefined,
    async () => {
      if (heard++ === 0) run.setWaiting(true, 1_500);
    },
  );
  await clock.advance(10_000);
  expect([fired, heard]).toEqual([0, 1]);
  await clock.advance(60_000);
  run.setWaiting(false, 61_500);
  await clock.advance(1_500);
  expect([fired, heard]).toEqual([1, 2]);
});
