/** Durable, authenticated accepts per second at 1, 16 and 256 clients, beside the bare one-insert server, by turns in one run. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { install, node, root } from '../test/support/installation.ts';
import { type Figure, load, median } from './measure.ts';

const seconds = 4;
const rounds = 3;
const agents = 60;

export const accepts = async (): Promise<Figure[]> => {
  const dir = mkdtempSync(join(tmpdir(), 'drover-bench-'));
  const peer = spawn(node, [join(root, 'bench/peers/bare-insert.ts'), join(dir, 'bare.db'), 'k'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const peerUrl = await new Promise<string>((done) => peer.stdout.once('data', (d) => done(String(d).trim())));
  const drover = await install();
  try {
    await drover.api('POST', '/api/fleet/pause');
    for (let i = 0; i < agents; i++)
      await drover.api('POST', '/api/agents', {
        name: `bench-${i}`,
        adapter: 'command',
        command: ['true'],
        max_backlog_depth: 10_000,
      });
    const paths = Array.from({ length: agents }, (_, i) => `/api/agents/bench-${i}/task`);
    const body = JSON.stringify({ message: 'Look at the failing test and mend it.', async_mode: true });
    const plan = (url: string, key: string, clients: number) => ({
      url,
      clients,
      seconds,
      method: 'POST' as const,
      paths,
      body,
      expect: 202,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    const figures: Figure[] = [];
    for (const clients of [1, 16, 256]) {
      const ours: number[] = [];
      const theirs: number[] = [];
      for (let round = 0; round < rounds; round++) {
        theirs.push((await load(plan(peerUrl, 'k', clients))).perSecond);
        ours.push((await load(plan(drover.url, drover.token, clients))).perSecond);
      }
      figures.push(
        { what: `accepts, ${clients} clients`, value: median(ours), unit: '/s', aim: null },
        { what: `bare insert, ${clients} clients`, value: median(theirs), unit: '/s', aim: null },
        {
          what: `accepts ÷ bare insert, ${clients} clients`,
          value: median(ours) / median(theirs),
          unit: '×',
          aim: clients === 256 ? { atLeast: 0.6 } : null,
        },
      );
    }
    return figures;
  } finally {
    peer.kill();
    await drover.end();
    rmSync(dir, { recursive: true, force: true });
  }
};
