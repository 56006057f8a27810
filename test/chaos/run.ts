/** npm run chaos -- --rounds N [--seed S]     real kill -9 on a real installation; says what was killed and what was wrong */
import { parseArgs } from 'node:util';
import { chaos } from './rounds.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
});
const [rounds, seed] = [Number(values.rounds), Number(values.seed)];
if (!(rounds >= 1 && seed >= 0)) throw new Error('usage: npm run chaos -- --rounds N [--seed S], both whole numbers');
const began = performance.now();
const report = await chaos({ rounds, seed }, (line) => process.stdout.write(`${line}\n`));
const s = Math.round((performance.now() - began) / 1000);
process.stdout.write(`${JSON.stringify({ ...report, seed, wall_s: s }, null, 2)}\n`);
process.exitCode = report.problems.length === 0 ? 0 : 1;
