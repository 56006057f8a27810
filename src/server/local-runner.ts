/**
 * The runner of this machine as a child of the server: started, started again when it dies, asked to leave at the end. It
 * runs in a session of its own with its output in a file, so that neither Ctrl-C nor a killed server takes it down: agents
 * and their endings are its and the holder's, not ours.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { runnerRetiredExit } from '../contract/runner-protocol.ts';
import { hashedBackoff } from '../kernel/backoff.ts';
import { runnerSocket } from '../kernel/home-sockets.ts';
import type { Kernel } from '../kernel/kernel.ts';

interface LocalRunner {
  /** Asks it to leave and waits for it, at most `ms`. Agents stay with the holder. */
  stop(ms: number): Promise<void>;
}

/** Calls once the runner that listens there has ended; its socket closes with it. */
const whenGone = (socketPath: string, call: () => void): void => {
  const socket = connect(socketPath);
  socket.unref();
  // It says its pid: a socket with something unread is never closed.
  socket.resume();
  socket.on('error', () => {});
  socket.on('close', call);
};

/** Its last words, for whoever reads the server's log: why it leaves at once is often a wrong setting. */
const lastLine = (file: string): string => {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const end = Buffer.alloc(Math.min(size, 2_048));
  try {
    const fd = openSync(file, 'r');
    readSync(fd, end, 0, end.length, size - end.length);
    closeSync(fd);
  } catch {
    return '';
  }
  return end.toString().trimEnd().split('\n').at(-1) ?? '';
};

/** Rotated at start: one old file is kept. */
const logBytes = 16 * 1024 * 1024;
const openLog = (file: string): number => {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > logBytes) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
};

export const startLocalRunner = (
  kernel: Kernel,
  p: {
    node: string;
    nodeArgs: string[];
    entry: string;
    home: string;
    serverUrl: string;
    env: Record<string, string | undefined>;
  },
): LocalRunner => {
  let child: ChildProcess | null = null;
  let stopping = false;
  let failures = 0;
  let cancelRestart = () => {};
  const logFile = join(p.home, 'log', 'runner.log');

  const spawnRunner = (): ChildProcess => {
    const out = openLog(logFile);
    try {
      return spawn(p.node, [...p.nodeArgs, p.entry], {
        detached: true,
        stdio: ['ignore', out, out],
        env: { ...p.env, DROVER_HOME: p.home, DROVER_SERVER_URL: p.serverUrl },
      });
    } finally {
      closeSync(out);
    }
  };

  const start = () => {
    const began = kernel.clock.steady();
    /** Once, whether it ran or could not even be started (no process to be had, no file for its log): then it is tried again. */
    const over = (how: Record<string, unknown>) => {
      child = null;
      if (stopping) return;
      // Quick deaths are spaced out; one that had lived a minute is replaced at once.
      failures = kernel.clock.steady() - began > 60_000 ? 0 : failures + 1;
      const waitMs = failures === 0 ? 0 : hashedBackoff(p.home, failures, 200, 10_000);
      const known = { in_ms: waitMs, last_line: lastLine(logFile), log: logFile };
      kernel.log.warn('the runner ended; it is started again', { ...how, ...known });
      cancelRestart = kernel.clock.after(waitMs, start);
    };
    try {
      child = spawnRunner();
    } catch (error) {
      return over({ error });
    }
    // Without a pid there is no exit.
    child.on('error', (error) => (child?.pid === undefined ? over({ error }) : undefined));
    child.on('exit', (code, signal) => {
      if (stopping || code !== runnerRetiredExit) return over({ code, signal });
      child = null;
      kernel.log.info('another runner has taken this home over; ours starts again when that one is gone');
      whenGone(runnerSocket(p.home), again);
    });
  };
  const again = () => {
    if (!stopping) cancelRestart = kernel.clock.after(1_000, start);
  };
  start();

  return {
    stop: (ms) =>
      new Promise((resolve) => {
        stopping = true;
        cancelRestart();
        if (child === null) return resolve();
        const cancel = kernel.clock.after(ms, resolve);
        child.on('exit', () => {
          cancel();
          resolve();
        });
        child.kill('SIGTERM');
      }),
  };
};
