/** One kill of each kind in each `npm test`; `npm run chaos -- --kills 50` for more. What was measured: docs/chaos.md. */
import { expect, it } from 'vitest';
import { verifies } from '../support/verifies.ts';
import { killedJobs } from './job.ts';

it(
  verifies(
    'R31',
    'R24',
  )(
    'a coding job whose CLI, runner, holder or all are killed at a random instant, and which is then resumed, makes the same tree, and runs no recorded tool call twice',
  ),
  async () => {
    const report = await killedJobs({ kills: 7, seed: 5 });
    expect(report.problems).toEqual([]);
    expect(report.kills).toBe(7);
  },
);
