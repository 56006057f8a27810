/** `npm run bench [section…]`: every figure with its aim, as a table. Ratios are of things measured by turns in this one run. */
import { accepts } from './accepts.ts';
import { addedTime } from './added-time.ts';
import { busy } from './busy.ts';
import { claims } from './claims.ts';
import { flood } from './flood.ts';
import { type Figure, show } from './measure.ts';
import { ready } from './ready.ts';
import { recovery } from './recovery.ts';
import { openScreens } from './screens.ts';

const sections: Record<string, () => Promise<Figure[]>> = {
  ready,
  recovery,
  accepts,
  claims,
  busy,
  screens: openScreens,
  flood,
  'added-time': addedTime,
};
const wanted = process.argv.slice(2);
for (const name of wanted)
  if (!(name in sections)) throw new Error(`no section ${name}; there are ${Object.keys(sections).join(', ')}`);

process.stdout.write('| figure | value | aim | |\n|---|---|---|---|\n');
for (const [name, section] of Object.entries(sections)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const figure of await section()) process.stdout.write(`${show(figure)}\n`);
}
process.exit(0);
