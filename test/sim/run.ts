/**
 * npm run sim -- --seeds N [--seed S]     N histories from seed S on (default 1,000 from 1); says what happened, and for a
 *                                         failing one the seed, what was broken and the few steps that break it
 */
import { parseArgs } from 'node:util';
import { openDisk } from './disk.ts';
import { play, shrink } from './play.ts';
import { historyOf } from './steps.ts';

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
});
const [seeds, first] = [Number(values.seeds), Number(values.seed)];
if (!(seeds >= 1 && first >= 0)) throw new Error('usage: npm run sim -- --seeds N [--seed S], both whole numbers');
const disk = openDisk();
const sum = { executions: 0, processes: 0, events: 0 };
const began = performance.now();
let failed = 0;
for (let seed = first; seed < first + seeds; seed++) {
  const { failure, count } = await play(historyOf(seed), disk);
  for (const k of ['executions', 'processes', 'events'] as const) sum[k] += count[k];
  if (failure === null) continue;
  failed++;
  const small = await shrink(failure, disk);
  const { steps, ...of } = small.history;
  process.stdout.write(
    `\nseed ${seed}: ${small.what}\n  ${JSON.stringify(of)}\n${steps.map((s) => `  ${JSON.stringify(s)}\n`).join('')}`,
  );
  if (failed >= 5) break;
}
disk.end();
const s = ((performance.now() - began) / 1000).toFixed(1);
process.stdout.write(
  `${seeds} histories from seed ${first}: ${sum.executions} executions, ${sum.processes} processes, ${sum.events} events in ${s} s; ${failed} failed\n`,
);
process.exitCode = failed === 0 ? 0 : 1;
