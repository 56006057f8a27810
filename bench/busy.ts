/**
 * /health and lists, idle and full. Full = the fleet full, 10,000 rows queued, 50 event streams open, and 200 agents that
 * write 25 log lines a second each. Idle and full are measured in the same installation, one after the other.
 */
import { Agent, request } from 'undici';
import { install } from '../test/support/installation.ts';
import { type Figure, load, residentMb } from './measure.ts';

const agents = 200;
const queued = 10_000;
const streams = 50;

export const busy = async (): Promise<Figure[]> => {
  const drover = await install({ BACKEND_AGENT_CALL_LIMIT: String(agents) });
  const wide = new Agent({ connections: 400, headersTimeout: 0, bodyTimeout: 0 });
  const headers = { authorization: `Bearer ${drover.token}`, 'content-type': 'application/json' };
  try {
    // One line each 40 ms until it is stopped: a shell loop would burn the CPU that is being measured.
    const writer = [
      'node',
      '-e',
      "let n=0;setInterval(()=>console.log('line '+(n++)+' of a tool that says what it does'),40)",
    ];
    for (let i = 0; i < agents; i++)
      await drover.api('POST', '/api/agents', {
        name: `w-${i}`,
        adapter: 'command',
        command: writer,
        max_backlog_depth: 10_000,
        max_parallel_tasks: 1,
      });
    const plan = (path: string, clients: number) => ({
      url: drover.url,
      clients,
      seconds: 5,
      method: 'GET' as const,
      paths: [path],
      body: null,
      expect: 200,
      headers: { authorization: headers.authorization },
    });
    const list = '/api/executions?limit=50';
    const idleHealth = await load(plan('/health', 1));
    const idleList = await load(plan(list, 1));

    for (let i = 0; i < agents + queued; i += 100)
      await Promise.all(
        Array.from({ length: 100 }, (_, k) =>
          request(`${drover.url}/api/agents/w-${(i + k) % agents}/task`, {
            method: 'POST',
            dispatcher: wide,
            headers,
            body: JSON.stringify({ message: 'go', async_mode: true }),
          }).then((r) => r.body.dump()),
        ),
      );
    for (let i = 0; i < streams; i++)
      request(`${drover.url}/api/events`, { dispatcher: wide, headers }).then((r) => r.body.resume());
    await drover.until(
      'the fleet is full',
      async () => (await drover.api('GET', '/api/fleet/limits')).body,
      (b) => (b.in_use?.running ?? b.running ?? 0) >= agents,
    );
    const fullHealth = await load(plan('/health', 1));
    const fullList = await load(plan(list, 1));
    const lag = (await drover.api('GET', '/health')).body.loop_lag_p99_ms;
    const mb = (word: string) => residentMb(drover.pids(word)[0]!);
    return [
      { what: '/health p99, idle', value: idleHealth.p99, unit: 'ms', aim: null },
      { what: '/health p99, full', value: fullHealth.p99, unit: 'ms', aim: { atMost: 10 } },
      { what: '/health p99, full ÷ idle', value: fullHealth.p99 / idleHealth.p99, unit: '×', aim: { atMost: 2 } },
      { what: 'list p99, idle', value: idleList.p99, unit: 'ms', aim: null },
      { what: 'list p99, full', value: fullList.p99, unit: 'ms', aim: null },
      { what: 'loop lag p99, full', value: lag, unit: 'ms', aim: null },
      { what: 'server memory, full', value: mb('server/main'), unit: 'MB', aim: { atMost: 150 } },
      { what: 'runner memory, full', value: mb('server/runner'), unit: 'MB', aim: { atMost: 100 } },
      { what: 'holder memory, full', value: mb('server/holder'), unit: 'MB', aim: { atMost: 50 } },
    ];
  } finally {
    wide.destroy();
    await drover.end();
  }
};
