/**
 * One runner per DROVER_HOME: whoever starts asks the one before it, over a unix socket, to retire, waits until it is gone,
 * and takes its place. The old one lets go of its agents, which stay with the holder; two at once would both claim, both
 * deliver and both kill. A socket nobody listens on is a dead runner's.
 */
import { chmodSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { Fault } from '../contract/errors.ts';
import type { Kernel } from '../kernel/kernel.ts';

/** A retiring runner delivers what it can for 3 s and closes; a host under load gets five times that. */
const retireMs = 15_000;

interface Single {
  /** False when another runner has taken the name meanwhile. */
  isMine(): boolean;
  release(): void;
}

/** Resolves when nobody listens there any more. */
const retireOther = (path: string, { clock, log }: Kernel): Promise<void> =>
  new Promise((resolve, reject) => {
    let pid = 'unknown';
    const socket = connect(path);
    const cancel = clock.after(retireMs, () => {
      socket.destroy();
      reject(
        new Fault(
          'not_ready',
          `Another runner (pid ${pid}) has this DROVER_HOME and does not leave. Stop it: kill ${pid}`,
        ),
      );
    });
    const gone = () => {
      cancel();
      resolve();
    };
    socket.setEncoding('utf8');
    socket.once('connect', () => socket.write('retire\n'));
    socket.on('data', (said: string) => {
      pid = said.trim();
      log.info('the runner before this one is asked to leave', { pid });
    });
    socket.on('error', gone);
    socket.on('close', gone);
  });

export const becomeSingle = async (path: string, kernel: Kernel, onRetire: () => void): Promise<Single> => {
  await retireOther(path, kernel);
  const own = `${path}.${process.pid}`;
  const server: Server = createServer((client) => {
    client.on('error', () => client.destroy());
    client.setEncoding('utf8');
    client.on('data', (order: string) => {
      // Stays open until this process is gone: that is the answer.
      if (order.trim() === 'retire') onRetire();
    });
    client.write(`${process.pid}\n`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(own, resolve);
  });
  // Bound aside, then renamed: the path is a live socket or a dead one, never half of one.
  chmodSync(own, 0o600);
  renameSync(own, path);
  const inode = lstatSync(path).ino;
  server.unref();
  const isMine = () => lstatSync(path, { throwIfNoEntry: false })?.ino === inode;
  return {
    isMine,
    release() {
      if (isMine()) rmSync(path, { force: true });
      server.close();
    },
  };
};
