/**
 * Durable, authenticated accepts per second at 1, 16 and 256 clients, beside two bare one-insert Fastify servers, by turns in one
 * run: one commits each request by itself, the other groups its commits as Drover does.
 */
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
  const peers = (['each', 'grouped'] as const).map((commits) => {
    const file = join(dir, `${commits}.db`);
    const process = spawn(node, [join(root, 'bench/peers/bare-insert.ts'), file, 'k', commits], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const url = new Promise<string>((done) => process.stdout.once('data', (d) => done(String(d).trim())));
    return { commits, process, url, perSecond: [] as number[] };
  });
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
      for (const peer of peers) peer.perSecond = [];
      for (let round = 0; round < rounds; round++) {
        for (const peer of peers) peer.perSecond.push((await load(plan(await peer.url, 'k', clients))).perSecond);
        ours.push((await load(plan(drover.url, drover.token, clients))).perSecond);
      }
      figures.push({ what: `accepts, ${clients} clients`, value: median(ours), unit: '/s', aim: null });
      for (const { commits, perSecond } of peers) {
        const how = commits === 'each' ? 'a commit each' : 'grouped commits';
        const theirs = median(perSecond);
        figures.push(
          { what: `bare insert (${how}), ${clients} clients`, value: theirs, unit: '/s', aim: null },
          {
            what: `accepts ÷ bare insert (${how}), ${clients} clients`,
            value: median(ours) / theirs,
            unit: '×',
            aim: clients === 256 && commits === 'each' ? { atLeast: 0.6 } : null,
          },
        );
      }
    }
    return figures;
  } finally {
    for (const peer of peers) peer.process.kill();
    await drover.end();
    rmSync(dir, { recursive: true, force: true });
  }
};
