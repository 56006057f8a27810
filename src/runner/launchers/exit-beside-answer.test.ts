/** A scripted holder, for what the real one does once in some thousand restarts: an ending in the same breath as an answer. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { kernelWith } from '../../../test/support/held.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { holderSocket } from '../../kernel/home-sockets.ts';
import { writeRecord } from '../record-file.ts';
import { files } from './attempt-files.ts';
import { statOf } from './proc.ts';
import { createProcessLauncher } from './process-launcher.ts';
import { bootId } from './proof.ts';

let home: string;
let holder: Server;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((r) => holder.close(r));
  rmSync(home, { recursive: true, force: true });
});

it(
  verifies('R2', 'R22')('an agent that ends while a restarted runner asks for it is known to have ended'),
  async () => {
    home = mkdtempSync(join(tmpdir(), 'breath-'));
    const dir = join(home, 'attempt');
    mkdirSync(dir);
    const proof = { pid: process.pid, start_time: statOf(process.pid)!.start_time, boot_id: bootId() };
    const ending = { exit_code: 3, signal: null, at: 1_000 };
    let asked = 0;
    holder = createServer((socket) => {
      sockets.push(socket);
      const say = (...messages: object[]) => socket.write(messages.map((m) => `${JSON.stringify(m)}\n`).join(''));
      say({ hello: 'drover-holder', protocol: 1, pid: process.pid, boot: bootId() });
      socket.on('error', () => {});
      socket.on('data', (text) => {
        for (const line of String(text).trim().split('\n')) {
          const { ref } = JSON.parse(line) as { ref: number };
          // The launcher's own question at its start knows of the child as well; the one of the reattach is the second.
          if (++asked !== 2) {
            say({ ref, children: [], unwritten: [] });
            continue;
          }
          writeRecord(files(dir).exit, { ...ending, spawn_error: null });
          const child = { id: 'b1', pid: proof.pid, start_time: proof.start_time, started_at: 900 };
          say({ ref, children: [child], unwritten: [] }, { event: 'exit', id: 'b1', ...ending });
        }
      });
    });
    const path = holderSocket(home);
    mkdirSync(dirname(path), { recursive: true });
    await new Promise<void>((r) => holder.listen(path, r));
    writeRecord(files(dir).held, {
      version: 1,
      attempt: 'b1',
      proof,
      holder: proof,
      started_at: 900,
      held_by: 'none',
      leaf: null,
      memory_bytes: null,
      oom_kills_before: null,
      host_oom_kills_before: null,
    });
    const launcher = await createProcessLauncher({ kernel: kernelWith(), home, agentUser: null, cgroup: null });
    const found = await launcher.reattach('b1', dir);
    if (!('proof' in found)) throw new Error(JSON.stringify(found));
    expect(await found.exited).toMatchObject(ending);
    launcher.close();
  },
);
