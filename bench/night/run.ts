/**
 * npm run night -- [--seed N] [--seeds N]     the bad night under Drover and under simple policies, as a table; docs/night.md reads it
 */
import { parseArgs } from 'node:util';
import { droverNight } from './drover.ts';
import { hour, nightOf, type Outcome } from './plan.ts';
import { simpleNight } from './simple.ts';

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, seeds: { type: 'string', default: '1' } },
});
const [first, seeds] = [Number(values.seed), Number(values.seeds)];
if (!(Number.isInteger(first) && Number.isInteger(seeds) && first >= 0 && seeds >= 1))
  throw new Error('usage: npm run night -- [--seed N] [--seeds N], both whole numbers');

const rows: [string, (o: Outcome) => string][] = [
  ['runs given', (o) => String(o.submitted)],
  ['**good by morning**', (o) => `**${o.good}**`],
  ['failed', (o) => String(o.failed)],
  [
    'of them',
    (o) =>
      Object.entries(o.byCause)
        .map(([c, n]) => `${c} ${n}`)
        .join(', ') || '–',
  ],
  ['still waiting', (o) => String(o.left)],
  ['last good run, hours into the night', (o) => (o.lastGoodAt / hour).toFixed(1)],
  ['processes started', (o) => String(o.spawns)],
  ['**wasted starts**', (o) => `**${o.wastedSpawns}**`],
  ['cost of the night', (o) => `$${o.cost.toFixed(2)}`],
  ['**wasted cost**', (o) => `**$${o.wastedCost.toFixed(2)}**`],
  ['**a person was called**', (o) => `**${o.items}**`],
];

let broken = 0;
for (let seed = first; seed < first + seeds; seed++) {
  const night = nightOf(seed);
  const drover = await droverNight(night);
  const simple = simpleNight(night);
  const lines = rows.map(([what, show]) => `| ${what} | ${show(drover)} | ${show(simple)} |`);
  process.stdout.write(`\nseed ${seed}\n\n| | Drover | simple policies |\n|---|---|---|\n${lines.join('\n')}\n\n`);
  process.stdout.write(
    `live when the server was killed: ${drover.liveAtRestart}; incidents: ${drover.incidents
      .map((i) => `${i.provider}, ${i.failures} failures, ${i.probes} probes, ${i.state}`)
      .join(
        '; ',
      )}\nlogins in the morning: ${drover.credentials.map((c) => `${c.id} ${c.state}`).join(', ')}\nitems:\n${drover.openItems
      .map((t) => `  ${t}\n`)
      .join('')}`,
  );
  for (const v of drover.violations) process.stdout.write(`BROKEN: ${v}\n`);
  broken += drover.violations.length;
}
process.exitCode = broken === 0 ? 0 : 1;
