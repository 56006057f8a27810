/** A few rounds in each `npm test`; `npm run chaos -- --rounds 1000` for all of them. What was measured: docs/chaos.md. */
import { expect, it } from 'vitest';
import { verifies } from '../support/verifies.ts';
import { chaos } from './rounds.ts';

it(
  verifies(
    'R2',
    'R22',
    'R23',
    'R24',
    'R27',
    'R34',
  )('kill -9 of server, runner, holder, agents, two or all: nothing lost, doubled, misreported or left behind'),
  async () => {
    const report = await chaos({ rounds: 10, seed: 3 });
    expect(report.problems).toEqual([]);
    expect(report.rounds).toBe(10);
    expect(report.executions).toBe(60);
    // Rounds in which nothing lived at the kill would prove nothing.
    expect(report.mostAlive).toBeGreaterThan(1);
  },
);
