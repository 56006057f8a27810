import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manualClock } from '../../../test/support/manual-clock.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { openLink } from './holder-link.ts';

let dir: string;
let path: string;
let server: Server | null = null;
const sockets: Socket[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-link-'));
  path = join(dir, 'holder.sock');
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server?.close();
  server = null;
  rmSync(dir, { recursive: true, force: true });
});

const quiet = { exit: () => {}, closed: () => {} };
const greeting = async (...lines: string[]): Promise<void> => {
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    for (const line of lines) socket.write(`${line}\n`);
  });
  server.listen(path);
  await once(server, 'listening');
};

describe('the way to the holder', () => {
  it(verifies('R2')('is none where a killed one left its socket, or where there never was one'), async () => {
    expect(await openLink(path, manualClock(), quiet)).toBe(null);
    const left = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    expect(spawnSync(process.execPath, ['-e', left]).signal).toBe('SIGKILL');
    expect(existsSync(path)).toBe(true);
    expect(await openLink(path, manualClock(), quiet)).toBe(null);
  });

  it(verifies('R2')('is refused in words that say what to do when it speaks another protocol'), async () => {
    await greeting(JSON.stringify({ hello: 'drover-holder', protocol: 99, pid: 7, boot: 'b' }));
    await expect(openLink(path, manualClock(), quiet)).rejects.toMatchObject({
      code: 'protocol_version',
      message: expect.stringMatching(/speaks protocol 99, this runner 1\. Let its agents end/),
    });
  });

  it('is refused when something else listens there', async () => {
    await greeting(JSON.stringify({ hello: 'somebody' }));
    await expect(openLink(path, manualClock(), quiet)).rejects.toMatchObject({ code: 'protocol_version' });
  });

  it('is none when nothing greets in 10 s: a stopped holder holds no runner for ever', async () => {
    await greeting();
    const clock = manualClock();
    const asked = once(server!, 'connection');
    const link = openLink(path, clock, quiet);
    await asked;
    await clock.advance(10_000);
    expect(await link).toBe(null);
  });
});
