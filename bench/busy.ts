/**
 * /health and lists, idle and full. Full = the fleet full, 10,000 rows queued, 50 event streams open, and 200 agents that
 * write 25 log lines a second each. Idle and full are measured in the same installation; idle before and after, since the
 * machine may have other things to do. Probes come at a pace, as a monitor's do: a probe in a tight loop is a load itself.
 */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Agent, request } from 'undici';
import { install } from '../test/support/installation.ts';
import { type Figure, load, median, residentMb } from './measure.ts';

const agents = 200;
const queued = 10_000;
const streams = 50;
const probes = { everyMs: 5, seconds: 10 };

/** One line each 40 ms until it is stopped. Perl where there is one: 200 Node processes would be 9 GB and most of the load. */
const writer = (): string[] => {
  const line = 'of a tool that says what it does, as long as lines are';
  try {
    accessSync('/usr/bin/perl', constants.X_OK);
    return [
      '/usr/bin/perl',
      '-e',
      `$|=1; while (1) { print "line ", ++$n, " ${line}\\n"; select(undef, undef, undef, 0.04) }`,
    ];
  } catch {
    return [process.execPath, '-e', `let n=0; setInterval(() => console.log('line ' + ++n + ' ${line}'), 40)`];
  }
};

const linesStored = (home: string): number => {
  const db = new DatabaseSync(join(home, 'logs.db'), { readOnly: true });
  try {
    return (db.prepare('SELECT coalesce(sum(last_seq), 0) AS n FROM log').get() as { n: number }).n;
  } finally {
    db.close();
  }
};

export const busy = async (): Promise<Figure[]> => {
  const drover = await install({ BACKEND_AGENT_CALL_LIMIT: String(agents), DROVER_LOG_LEVEL: 'error' });
  const wide = new Agent({ connections: 400, headersTimeout: 0, bodyTimeout: 0 });
  const headers = { authorization: `Bearer ${drover.token}`, 'content-type': 'application/json' };
  let events = 0;
  try {
    const command = writer();
    for (let i = 0; i < agents; i++) {
      const made = await drover.api('POST', '/api/agents', {
        name: `w-${i}`,
        adapter: 'command',
        command,
        max_backlog_depth: 10_000,
        max_parallel_tasks: 1,
      });
      if (made.status >= 300) throw new Error(`agent w-${i}: ${made.status} ${JSON.stringify(made.body)}`);
    }
    const probe = (path: string) =>
      load({
        url: drover.url,
        clients: 1,
        ...probes,
        method: 'GET',
        paths: [path],
        body: null,
        expect: 200,
        headers: { authorization: headers.authorization },
      });
    const health = () => probe('/health');
    const list = () => probe('/api/executions?limit=50');
    const idleHealth = [await health()];
    const idleList = [await list()];

    const opened = Array.from({ length: streams }, async () => {
      const stream = await request(`${drover.url}/api/events`, { dispatcher: wide, headers });
      if (stream.statusCode !== 200) throw new Error(`/api/events answered ${stream.statusCode}`);
      stream.body.on('data', (d: Buffer) => {
        events += d.toString().split('\n\n').length - 1;
      });
      stream.body.on('error', () => {});
    });
    await Promise.all(opened);
    const give = async (i: number) => {
      const answer = await request(`${drover.url}/api/agents/w-${i % agents}/task`, {
        method: 'POST',
        dispatcher: wide,
        headers,
        body: JSON.stringify({ message: 'go', async_mode: true }),
      });
      const said = await answer.body.text();
      if (answer.statusCode !== 202) throw new Error(`task ${i}: ${answer.statusCode} ${said}`);
    };
    for (let i = 0; i < agents + queued; i += 100)
      await Promise.all(Array.from({ length: 100 }, (_, k) => give(i + k)));
    const occupancy = async () => (await drover.api('GET', '/api/fleet/limits')).body;
    await drover.until('the fleet is full', occupancy, (b) => b.running >= agents);
    const before = { at: performance.now(), lines: linesStored(drover.home) };
    const fullHealth = [await health()];
    const fullList = [await list()];
    fullHealth.push(await health());
    const lag = (await drover.api('GET', '/health')).body.loop_lag_p99_ms;
    const linesPerSecond = (linesStored(drover.home) - before.lines) / ((performance.now() - before.at) / 1000);
    const mb = (word: string) => residentMb(drover.pids(word)[0]!);
    const memory = { server: mb('/main.js'), runner: mb('/runner.js'), holder: mb('/holder.js') };
    await drover.stop();
    const p99 = (all: { p99: number }[]) => median(all.map((r) => r.p99));
    return [
      { what: '/health p99, idle', value: p99(idleHealth), unit: 'ms', aim: null },
      { what: '/health p99, full', value: p99(fullHealth), unit: 'ms', aim: { atMost: 10 } },
      { what: '/health p99, full ÷ idle', value: p99(fullHealth) / p99(idleHealth), unit: '×', aim: { atMost: 2 } },
      { what: 'list p99, idle', value: p99(idleList), unit: 'ms', aim: null },
      { what: 'list p99, full', value: p99(fullList), unit: 'ms', aim: null },
      { what: 'loop lag p99, full', value: lag, unit: 'ms', aim: null },
      { what: 'log lines stored, full', value: linesPerSecond, unit: '/s', aim: { atLeast: 0.9 * agents * 25 } },
      { what: 'events given to the streams', value: events / streams, unit: 'each', aim: null },
      { what: 'server memory, full', value: memory.server, unit: 'MB', aim: { atMost: 150 } },
      { what: 'runner memory, full', value: memory.runner, unit: 'MB', aim: { atMost: 100 } },
      { what: 'holder memory, full', value: memory.holder, unit: 'MB', aim: { atMost: 50 } },
    ];
  } finally {
    await wide.destroy();
    await drover.end();
  }
};
