/**
 * A whole installation as a user has it: the bundle started as `npm start` does, on a free port, with a DROVER_HOME of its
 * own, driven by HTTP. `end` stops it and every process that carries this DROVER_HOME, found by its environment, takes their
 * cgroups away, and fails when one of them stays.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { programEnv, serverArgs } from '../../src/kernel/programs.ts';
import { placeOf, removeLeaves } from './leaves.ts';

export const root = resolve(import.meta.dirname, '../..');
export const node = join(root, 'node_modules', '.bin', 'node');
export const claudeBin = join(root, 'node_modules', '.bin', 'claude');

interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every route; tests look into them
  body: any;
}

export interface Installation {
  home: string;
  url: string;
  token: string;
  /** What the server printed so far. */
  output(): string;
  /** One request with the owner's token. */
  api(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Asks by event, not by time: polls each few ms until `ready` holds; gives up after 200 s with what it saw last. */
  until<T>(what: string, look: () => Promise<T>, ready: (seen: T) => boolean): Promise<T>;
  ended(executionId: string): Promise<Answer['body']>;
  /** kill -9 of the server alone. */
  killServer(): Promise<void>;
  /** Starts the server (again); `build`: a copy of `dist` elsewhere, as after an upgrade. */
  start(build?: string): Promise<void>;
  /** SIGTERM, as Ctrl-C does; the exit code. */
  stop(): Promise<number | null>;
  /** Pids of this installation's processes whose command line holds `word`. */
  pids(word: string): number[];
  /** Stops everything and removes the home. */
  end(): Promise<void>;
}

const environOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
};
const cmdlineOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
};

export const install = async (
  env: Record<string, string> = {},
  home = mkdtempSync(join(tmpdir(), 'drover-e2e-')),
): Promise<Installation> => {
  let server: ChildProcess | null = null;
  let printed = '';
  const it: Installation = {
    home,
    url: '',
    token: '',
    output: () => printed,
    async start(build = join(root, 'dist')) {
      const child = spawn(node, [...serverArgs, join(build, 'server/main.js')], {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          PATH: process.env.PATH,
          HOME: home,
          LANG: 'C.UTF-8',
          DROVER_HOME: home,
          DROVER_PORT: '0',
          DROVER_LOG_LEVEL: 'warn',
          ...programEnv(build),
          ...env,
        },
      });
      server = child;
      child.stderr.on('data', (d) => {
        printed += d;
      });
      it.url = await new Promise<string>((done, fail) => {
        createInterface({ input: child.stdout }).on('line', (line) => {
          printed += `${line}\n`;
          const ready = /^Drover is ready: (\S+)/.exec(line);
          if (ready) done(ready[1]!);
        });
        child.on('exit', (code, signal) => fail(new Error(`the server ended (${code ?? signal}):\n${printed}`)));
      });
      it.token = readFileSync(join(home, 'owner.token'), 'utf8').trim();
    },
    async api(method, path, body, headers = {}) {
      const response = await fetch(`${it.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${it.token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
      });
      const text = await response.text();
      const json = (response.headers.get('content-type') ?? '').includes('json') && text !== '';
      return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
    },
    async until(what, look, ready) {
      const giveUp = performance.now() + 200_000;
      for (;;) {
        const seen = await look();
        if (ready(seen)) return seen;
        if (performance.now() > giveUp)
          throw new Error(
            `never came true: ${what}; last seen: ${JSON.stringify(seen)?.slice(0, 2000)}\n${printed.slice(-2000)}`,
          );
        await new Promise((r) => setTimeout(r, 25));
      }
    },
    ended: (id) =>
      it.until(
        `${id} has ended`,
        async () => (await it.api('GET', `/api/executions/${id}`)).body,
        (e) => ['success', 'failed', 'cancelled'].includes(e.status),
      ),
    killServer: () =>
      new Promise((done) => {
        server!.once('exit', () => done());
        server!.kill('SIGKILL');
      }),
    stop: () =>
      new Promise((done) => {
        if (server!.exitCode !== null || server!.signalCode !== null) return done(server!.exitCode);
        server!.once('exit', (code) => done(code));
        server!.kill('SIGTERM');
      }),
    pids: (word) =>
      readdirSync('/proc')
        .filter(
          (p) =>
            /^\d+$/.test(p) &&
            Number(p) !== process.pid &&
            (environOf(p) + cmdlineOf(p)).includes(home) &&
            cmdlineOf(p).includes(word),
        )
        .map(Number),
    async end() {
      await it.stop();
      const place = placeOf(it.pids('/holder.js')[0]);
      for (let left = it.pids(''); left.length > 0; left = it.pids(''))
        for (const pid of left)
          try {
            process.kill(pid, 'SIGKILL');
          } catch {
            // It ended by itself.
          }
      const leaves = await removeLeaves(place, home);
      if (leaves.length > 0) throw new Error(`cgroups stay after the end: ${leaves.join(', ')}`);
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  await it.start();
  return it;
};
