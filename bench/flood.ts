/**
 * Memory under a flood: 16 agents that write as fast as they can, each followed by a reader of its stream, until the bound of their logs stops them. What comes faster than
 * it can be stored has to wait in the agents' files, neither in the runner nor in the server. The peaks count.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { install } from '../test/support/installation.ts';
import { type Figure, residentMb } from './measure.ts';

const agents = 16;
const seconds = 20;
const lookMs = 100;

/** Reads what comes and keeps nothing. */
const follow = async (url: string, token: string): Promise<void> => {
  try {
    const stream = await request(url, { headers: { authorization: `Bearer ${token}` }, bodyTimeout: 0 });
    await stream.body.dump({ limit: Number.MAX_SAFE_INTEGER });
  } catch {
    // The server has left.
  }
};

export const flood = async (): Promise<Figure[]> => {
  const drover = await install({ BACKEND_AGENT_CALL_LIMIT: String(agents), DROVER_LOG_LEVEL: 'error' });
  try {
    for (let i = 0; i < agents; i++) {
      const command = ['/bin/sh', '-c', 'exec base64 -w 300 /dev/urandom'];
      await drover.api('POST', '/api/agents', { name: `f-${i}`, adapter: 'command', command });
      const { body } = await drover.api('POST', `/api/agents/f-${i}/task`, { message: 'go', async_mode: true });
      void follow(`${drover.url}/api/executions/${body.execution_id}/stream`, drover.token);
    }
    const pid = (word: string) => drover.pids(word)[0]!;
    const processes = { server: pid('/main.js'), runner: pid('/runner.js') };
    const peak = { server: 0, runner: 0 };
    const look = () => {
      for (const name of ['server', 'runner'] as const)
        peak[name] = Math.max(peak[name], residentMb(processes[name]) || 0);
    };
    const looking = setInterval(look, lookMs);
    await new Promise((r) => setTimeout(r, seconds * 1000));
    clearInterval(looking);
    const stored = statSync(join(drover.home, 'logs.db')).size + (statSync(join(drover.home, 'logs.db-wal')).size || 0);
    return [
      { what: 'stored of the flood', value: stored / seconds / 2 ** 20, unit: 'MB/s', aim: null },
      { what: 'server memory, flood, peak', value: peak.server, unit: 'MB', aim: { atMost: 200 } },
      { what: 'runner memory, flood, peak', value: peak.runner, unit: 'MB', aim: { atMost: 150 } },
    ];
  } finally {
    await drover.end();
  }
};
