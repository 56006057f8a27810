/** The server's own runner: why it ends is said where the operator looks, and it comes again. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { runnerRetiredExit } from '../contract/runner-protocol.ts';
import { systemClock } from '../kernel/clock.ts';
import { runnerSocket } from '../kernel/home-sockets.ts';
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
const start = (source: string, node = process.execPath) => {
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
    { node, nodeArgs: [], entry, home, serverUrl: 'http://127.0.0.1:1', env: {} },
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

it(verifies('R2')('comes again when it could not be started at all'), async () => {
  const node = join(home, 'node');
  const server = start(
    `import { writeFileSync } from 'node:fs'; writeFileSync('${home}/ran', ''); process.exit(3);`,
    node,
  );
  expect(await server.said(1)).toMatchObject({ error: { message: expect.stringContaining('ENOENT') } });
  expect(existsSync(join(home, 'ran'))).toBe(false);
  symlinkSync(process.execPath, node);
  for (let n = 2; !existsSync(join(home, 'ran')); n++) await server.said(n);
});

it(verifies('R2')('comes again when the runner that took its place is gone, which had said its pid'), async () => {
  mkdirSync(dirname(runnerSocket(home)), { recursive: true });
  const connected = Promise.withResolvers<Socket>();
  const other = createServer((client) => {
    client.write('4711\n');
    connected.resolve(client);
  });
  await new Promise<void>((listening) => other.listen(runnerSocket(home), listening));
  const server = start(`process.exit(${runnerRetiredExit});`);
  (await connected.promise).end();
  other.close();
  const away = { message: expect.stringContaining('another runner has taken this home over') };
  expect(await server.said(1)).toMatchObject(away);
  expect(await server.said(2)).toMatchObject(away);
});
