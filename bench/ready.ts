/** Time from the command to "ready", memory of server, runner and holder at rest. */
import { install } from '../test/support/installation.ts';
import { type Figure, median, residentMb } from './measure.ts';

export const ready = async (): Promise<Figure[]> => {
  const took: number[] = [];
  const drover = await install();
  try {
    for (let i = 0; i < 5; i++) {
      await drover.stop();
      const at = performance.now();
      await drover.start();
      took.push(performance.now() - at);
    }
    await drover.until(
      'the runner is there',
      async () => (await drover.api('GET', '/api/runners')).body,
      (r) => Array.isArray(r) && r.length > 0 && r[0].last_seen !== null,
    );
    const mb = (word: string) => residentMb(drover.pids(word)[0]!);
    return [
      { what: 'time to ready (installed tree, warm)', value: median(took) / 1000, unit: 's', aim: { atMost: 0.5 } },
      { what: 'server memory, idle', value: mb('/main.js'), unit: 'MB', aim: null },
      { what: 'runner memory, idle', value: mb('/runner.js'), unit: 'MB', aim: { atMost: 100 } },
      { what: 'holder memory, idle', value: mb('/holder.js'), unit: 'MB', aim: { atMost: 50 } },
    ];
  } finally {
    await drover.end();
  }
};
