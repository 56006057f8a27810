/** Drill 31: each flush of the disk takes two seconds, and the control plane still answers. No switch in the product: strace. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Installation, install } from '../support/installation.ts';
import { verifies } from '../support/verifies.ts';

const hasStrace = (() => {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

let drover: Installation;
let strace: ChildProcess | null = null;

beforeAll(async () => {
  if (!hasStrace) return;
  drover = await install();
  await drover.api('POST', '/api/agents', { name: 'a', adapter: 'command', command: ['true'] });
  await drover.api('POST', '/api/fleet/pause');
  const { pid } = JSON.parse(readFileSync(join(drover.home, 'run/server.json'), 'utf8'));
  const child = spawn(
    'strace',
    [
      '-f',
      '-p',
      String(pid),
      '-e',
      'trace=fsync,fdatasync',
      '-e',
      'inject=fsync,fdatasync:delay_enter=2000000',
      '-o',
      '/dev/null',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  strace = child;
  await new Promise<void>((attached) =>
    createInterface({ input: child.stderr }).on('line', (line) => line.includes('attached') && attached()),
  );
});
afterAll(async () => {
  strace?.kill('SIGTERM');
  await drover?.end();
});

describe('a disk that takes two seconds per flush', () => {
  it.skipIf(!hasStrace)(
    verifies('D31', 'R46')('drill 31: /health and reads answer while 50 writes wait for it (skipped without strace)'),
    async () => {
      let stored = 0;
      const posts = Array.from({ length: 50 }, () =>
        drover.api('POST', '/api/agents/a/task', { message: 'x', async_mode: true }).then((r) => {
          expect(r.status).toBe(202);
          stored++;
        }),
      );
      // Not by the watch: these 100 answers come before the first write has its own.
      let lag = 0;
      for (let i = 0; i < 50; i++) {
        const health = await drover.api('GET', '/health');
        expect(health.status).toBe(200);
        lag = health.body.loop_lag_p99_ms;
        expect((await drover.api('GET', '/api/executions?limit=5')).status).toBe(200);
      }
      expect(stored).toBe(0);
      expect(lag).toBeGreaterThanOrEqual(0);
      await Promise.all(posts);
      expect(stored).toBe(50);
    },
  );
});
