/**
 * npm run chaos -- --rounds N [--seed S]     real kill -9 on a real installation; says what was killed and what was wrong
 * npm run chaos -- --kills N [--seed S]      a coding job of the real CLI, killed N times and resumed each time
 */
import { parseArgs } from 'node:util';
import { killedJobs } from './job.ts';
import { chaos } from './rounds.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    kills: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});
const [rounds, seed] = [Number(values.kills ?? values.rounds), Number(values.seed)];
if (!(rounds >= 1 && seed >= 0))
  throw new Error('usage: npm run chaos -- --rounds N | --kills N [--seed S], all whole numbers');
const began = performance.now();
const say = (line: string) => process.stdout.write(`${line}\n`);
const report =
  values.kills === undefined ? await chaos({ rounds, seed }, say) : await killedJobs({ kills: rounds, seed }, say);
const s = Math.round((performance.now() - began) / 1000);
say(JSON.stringify({ ...report, seed, wall_s: s }, null, 2));
process.exitCode = report.problems.length === 0 ? 0 : 1;
