/** The real server, killed again and again between ticks: each tick has one row, and none is left out. */
import { afterEach, expect, it } from 'vitest';
import { type Installation, install } from '../support/installation.ts';
import { verifies } from '../support/verifies.ts';

let drover: Installation;
afterEach(() => drover.end());

interface Tick {
  fire_at: string;
  status: string;
}

it(
  verifies('R43', 'D34')('kill -9 of the server between its ticks: each tick is one execution, and none is missing'),
  async () => {
    drover = await install();
    await drover.api('POST', '/api/agents', { name: 'echo', adapter: 'command', command: ['cat'] });
    const made = await drover.api('POST', '/api/agents/echo/schedules', {
      name: 'every second',
      cron_expression: '* * * * * *',
      message: 'tick',
      overlap: 'queue',
      catch_up: 'all',
    });
    const url = `/api/agents/echo/schedules/${made.body.id}`;
    const ticks = async (): Promise<Tick[]> => (await drover.api('GET', `${url}/executions?limit=200`)).body;
    for (let round = 0; round < 3; round++) {
      const before = (await ticks()).length;
      await drover.until('more ticks', ticks, (t) => t.length > before + 1);
      await drover.killServer();
      await drover.start();
    }
    await drover.api('POST', `${url}/disable`);
    const all = await drover.until('all have ended', ticks, (t) => t.every((x) => x.status === 'success'));
    const times = all.map((t) => Date.parse(t.fire_at)).reverse();
    expect(times.length).toBeGreaterThan(5);
    expect(times).toEqual(times.map((_, i) => times[0]! + i * 1000));
  },
);
