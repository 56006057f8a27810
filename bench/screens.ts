/**
 * /health with 50 screens open on the page Now, and without, by turns while the fleet works: eight places, runs of a second, a
 * queue behind them. A screen is played by the page's own code for what an event makes stale and how soon it is read again; it
 * reads as the page does and throws the answers away, since drawing them is the browser's work on another machine.
 */
import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { client } from '../src/client/client.ts';
import { pause } from '../src/client/pause.ts';
import { install, node, root } from '../test/support/installation.ts';
import { type Key, keys, staleAfter } from '../web/src/live/keys.ts';
import { createRefresher, roundMs, spreadMs } from '../web/src/live/live.ts';
import { type Figure, load, median, residentMb } from './measure.ts';

const screens = 50;
const agents = 8;
const queued = 1_000;
const probes = { everyMs: 5, seconds: 8 };
const turns = 3;

/** What the page Now has on the screen (web/src/now/data.ts). */
const reads: Record<string, string> = {
  [keys.limits.join('/')]: '/api/fleet/limits',
  [keys.agents.join('/')]: '/api/agents',
  [keys.runners.join('/')]: '/api/runners',
  [keys.operator.join('/')]: '/api/operator-queue?status=open',
  [keys.incidents.join('/')]: '/api/incidents',
  [keys.morning.join('/')]: '/api/morning',
  [keys.running.join('/')]: '/api/executions?status=running%2Cwaiting&limit=200',
  [keys.queued.join('/')]: '/api/executions?status=queued&order=oldest&limit=12',
  [keys.ended.join('/')]: '/api/executions?status=success%2Cfailed%2Ccancelled%2Cskipped&limit=60',
};

const playScreen = async (url: string, token: string, lagMs: number, count: () => void): Promise<void> => {
  const read = async (key: Key) => {
    const path = reads[key.join('/')];
    if (path === undefined) return;
    const answer = await fetch(new URL(path, url), { headers: { authorization: `Bearer ${token}` } });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
    count();
  };
  const touch = createRefresher(
    (stale) => Promise.all(stale.map(read)),
    (tookMs) => pause(Math.max(roundMs, tookMs)),
    () => performance.now(),
    () => pause(lagMs),
  );
  touch(Object.keys(reads).map((k) => k.split('/')));
  const { events } = client(url, { kind: 'bearer', token });
  for await (const item of events({})) if (item.kind === 'event') touch(staleAfter(item.event));
};

export const openScreens = async (): Promise<Figure[]> => {
  const drover = await install({ BACKEND_AGENT_CALL_LIMIT: String(agents), DROVER_LOG_LEVEL: 'error' });
  try {
    await drover.api('POST', '/api/agents', {
      name: 'w',
      adapter: 'command',
      command: ['sleep', '1'],
      max_backlog_depth: 10_000,
      max_parallel_tasks: agents,
    });
    for (let i = 0; i < queued; i += 50)
      await Promise.all(
        Array.from({ length: 50 }, () => drover.api('POST', '/api/agents/w/task', { message: 'go', async_mode: true })),
      );
    const probe = async () =>
      (
        await load({
          url: drover.url,
          clients: 1,
          ...probes,
          method: 'GET',
          paths: ['/health'],
          body: null,
          expect: 200,
          headers: { authorization: `Bearer ${drover.token}` },
        })
      ).p99;
    const without: number[] = [];
    const withScreens: number[] = [];
    let readsPerSecond = 0;
    for (let turn = 0; turn < turns; turn++) {
      without.push(await probe());
      const players = spawn(node, [join(root, 'bench/screens.ts'), drover.url, String(screens)], {
        env: { ...process.env, DROVER_TOKEN: drover.token },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const told: string[] = [];
      players.stdout.setEncoding('utf8').on('data', (text: string) => told.push(text));
      const gone = new Promise((done) => players.once('exit', done));
      await drover.until(
        'the screens are open',
        async () => told.length,
        (n) => n > 0,
      );
      withScreens.push(await probe());
      players.stdin.end();
      await gone;
      readsPerSecond = Number(told.at(-1));
    }
    return [
      { what: '/health p99, the fleet at work', value: median(without), unit: 'ms', aim: null },
      { what: `/health p99, with ${screens} screens open`, value: median(withScreens), unit: 'ms', aim: null },
      {
        what: 'with ÷ without screens',
        value: median(withScreens.map((ms, i) => ms / without[i]!)),
        unit: '×',
        aim: { atMost: 2 },
      },
      { what: 'lists read by the screens', value: readsPerSecond, unit: '/s', aim: null },
      { what: 'server memory, with them', value: residentMb(drover.pids('/main.js')[0]!), unit: 'MB', aim: null },
    ];
  } finally {
    await drover.end();
  }
};

// As a process, so that the screens share no thread with the probe: until its stdin ends. It says when they are open, then how
// much they read.
if (import.meta.main) {
  const [url = '', n = '1'] = process.argv.slice(2);
  // Browsers are on other machines: the screens take what the server leaves.
  setPriority(19);
  let read = 0;
  const began = performance.now();
  for (let i = 0; i < Number(n); i++)
    playScreen(url, process.env.DROVER_TOKEN!, (i * spreadMs) / Number(n), () => {
      read++;
      if (read === Number(n) * Object.keys(reads).length) process.stdout.write('open\n');
    }).catch((error) => {
      process.stderr.write(`a screen: ${error}\n`);
      process.exit(1);
    });
  process.stdin.resume().on('end', () => {
    process.stdout.write(`${(read / (performance.now() - began)) * 1000}\n`, () => process.exit(0));
  });
}
