import { expect, it } from 'vitest';
import { manualClock } from '../../test/support/manual-clock.ts';
import { verifies } from '../../test/support/verifies.ts';
import { watchAfterResult } from './background.ts';

const line = (event: Record<string, unknown> | null, terminal = false) => ({ event, terminal, hopeless: false });
const tasks = (n: number) =>
  line({ type: 'system', subtype: 'background_tasks_changed', tasks: Array.from({ length: n }, () => ({})) });

it(verifies('D21')('does not end a run whose first result came while background work goes on'), async () => {
  const clock = manualClock();
  let hung = 0;
  const after = watchAfterResult(clock, () => hung++);
  after.seen(tasks(1));
  after.seen(line({ type: 'result' }, true));
  await clock.advance(3_600_000);
  expect(hung).toBe(0);
  after.seen(tasks(0));
  await clock.advance(29_999);
  after.seen(line({ type: 'result' }, true));
  await clock.advance(29_999);
  expect(hung).toBe(0);
  await clock.advance(1);
  expect(hung).toBe(1);
});

it('does not count silence before the result', async () => {
  const clock = manualClock();
  let hung = 0;
  const after = watchAfterResult(clock, () => hung++);
  after.seen(line({ type: 'assistant' }));
  await clock.advance(3_600_000);
  expect(hung).toBe(0);
});
