/** The server's own runner: why it ends is said where the operator looks, and it comes again. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { systemRandom, timeOrderedIds } from '../kernel/ids.ts';
import { jsonLog } from '../kernel/log.ts';
import { startLocalRunner } from './local-runner.ts';

let home = '';
let runner: ReturnType<typeof startLocalRunner>;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'drover-local-runner-'));
  mkdirSync(join(home, 'log'));
});
afterEach(async () => {
  await runner.stop(1_000);
  rmSync(home, { recursive: true, force: true });
});

/** Starts `source` as the runner; `said` resolves with the n-th line of the server's log. */
const start = (source: string) => {
  const entry = join(home, 'runner.mjs');
  writeFileSync(entry, source);
  const lines: Record<string, unknown>[] = [];
  let wake = () => {};
  const clock = systemClock();
  const log = jsonLog(
    'info',
    (line) => {
      lines.push(JSON.parse(line));
      wake();
    },
    clock.now,
  );
  runner = startLocalRunner(
    { clock, log, random: systemRandom, ids: timeOrderedIds(systemRandom) },
    { node: process.execPath, nodeArgs: [], entry, home, serverUrl: 'http://127.0.0.1:1', env: {} },
  );
  return {
    said: async (n: number) => {
      while (lines.length < n) await new Promise<void>((r) => (wake = r));
      return lines[n - 1];
    },
  };
};

it('says the last line of a runner that ends, starts it again, and says it again', async () => {
  const server = start(`process.stderr.write('starting\\ndrover runner: no such user\\n'); process.exitCode = 1;`);
  const ended = { message: 'the runner ended; it is started again', code: 1, last_line: 'drover runner: no such user' };
  expect(await server.said(1)).toMatchObject(ended);
  expect(await server.said(2)).toMatchObject(ended);
});

it('goes on when its log was taken away', async () => {
  const server = start(
    `import { rmSync } from 'node:fs'; rmSync(process.env.DROVER_HOME + '/log', { recursive: true, force: true });`,
  );
  expect(await server.said(1)).toMatchObject({ code: 0, last_line: '' });
  expect(await server.said(2)).toMatchObject({ code: 0, last_line: '' });
});
