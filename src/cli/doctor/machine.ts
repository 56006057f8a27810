/**
 * What the doctor can see of this machine without any server: Node, DROVER_HOME, disk, memory, git, Claude Code, the holder.
 * It looks and changes nothing but a probe file that it removes. Numbers are compared with the floors of the
 * configuration, at which claims stop.
 */
import { execFile } from 'node:child_process';
import { accessSync, constants, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { bytes } from '../show/durations.ts';
import { oneLine } from '../terminal.ts';
import { type Check, note, ok, problem } from './check.ts';

export const checkNode = (version: string): Check =>
  Number(version.split('.')[0]) >= 24
    ? ok('node', `Node ${version}`)
    : problem('node', `Node ${version}`, 'Drover needs Node 24: run bin/drover, which takes the one that npm brought.');

export const checkHome = (home: string): Check => {
  try {
    const { mode } = statSync(home);
    accessSync(home, constants.W_OK | constants.X_OK);
    const probe = join(home, `.doctor-${process.pid}`);
    try {
      writeFileSync(probe, 'x');
    } finally {
      // A full disk makes an empty file before it refuses.
      rmSync(probe, { force: true });
    }
    if ((mode & 0o077) !== 0)
      return problem('home', `${home} can be read by others (mode ${(mode & 0o777).toString(8)})`, `chmod 700 ${home}`);
    return ok('home', `${home} can be written`);
  } catch (e) {
    const { code } = e as NodeJS.ErrnoException;
    if (code === 'ENOENT') return note('home', `${home} does not exist yet`, 'The first start makes it: npm start');
    if (code === 'ENOSPC') return problem('home', `the disk of ${home} is full`, 'Free disk.');
    return problem(
      'home',
      `${home} cannot be written (${code})`,
      'Run as its owner, or set DROVER_HOME to another directory.',
    );
  }
};

/** The nearest directory that exists: a home that is not made yet lies on the disk of its parent. */
const existing = (dir: string): string => {
  try {
    statSync(dir);
    return dir;
  } catch {
    return dirname(dir) === dir ? dir : existing(dirname(dir));
  }
};

export const checkDisk = async (home: string, floorMib: number): Promise<Check> => {
  const fs = await statfs(existing(home));
  const free = fs.bavail * fs.bsize;
  const found = `${bytes(free)} free of ${bytes(fs.blocks * fs.bsize)} at DROVER_HOME`;
  const floor = floorMib * 1024 ** 2;
  if (free < floor)
    return problem(
      'disk',
      found,
      `Below ${bytes(floor)} nothing new is started: free disk, or lower DROVER_DISK_FLOOR_MIB.`,
    );
  return ok('disk', found);
};

export const checkMemory = (meminfo: string | null, floorPercent: number): Check => {
  const kib = (key: string) =>
    Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(meminfo ?? '')?.[1] ?? Number.NaN) * 1024;
  const free = kib('MemAvailable');
  const total = kib('MemTotal');
  if (Number.isNaN(free) || Number.isNaN(total)) return note('memory', 'cannot be read here (/proc/meminfo)');
  const found = `${bytes(free)} available of ${bytes(total)}`;
  if (free < (total * floorPercent) / 100)
    return problem(
      'memory',
      found,
      `Below ${floorPercent} % nothing new is started: free memory, or lower DROVER_MEMORY_FLOOR_PERCENT.`,
    );
  return ok('memory', found);
};

export const readMeminfo = (): string | null => {
  try {
    return readFileSync('/proc/meminfo', 'utf8');
  } catch {
    return null;
  }
};

/** First line of what the program says of its version; the code of the failure otherwise. */
const versionOf = (program: string, timeoutMs: number): Promise<{ said: string } | { failed: string }> =>
  new Promise((resolve) => {
    execFile(program, ['--version'], { timeout: timeoutMs, maxBuffer: 64 * 1024 }, (error, stdout) => {
      if (error === null) return resolve({ said: oneLine(stdout, 80) });
      const { code } = error as NodeJS.ErrnoException;
      resolve({ failed: typeof code === 'string' ? code : `exit ${code ?? error.signal}` });
    });
  });

export const checkGit = async (): Promise<Check> => {
  const git = await versionOf('git', 5_000);
  if ('said' in git) return ok('git', git.said);
  return note(
    'git',
    `git was not found (${git.failed})`,
    'Without it each run works in the directory itself: no worktrees, no kept trees.',
  );
};

/** Claude Code and Codex start in about a second, Gemini CLI in two; a cold disk gets its time. */
const cliMs = 20_000;

/** How each CLI is had. */
export const agentClis = {
  claude: 'npm install -g @anthropic-ai/claude-code, or set DROVER_CLAUDE_BIN to its path. drover demo needs none.',
  codex: 'npm install -g @openai/codex, or name the program with drover agent set NAME --executable.',
  gemini: 'npm install -g @google/gemini-cli, or name the program with drover agent set NAME --executable.',
} as const;
export type AgentCli = keyof typeof agentClis;

/**
 * The same places in the same order as the runner: the configured one, PATH, the one of this tree (there in development).
 * `needed`: an agent of this adapter without a program of its own is there.
 */
export const checkCli = async (
  name: AgentCli,
  bin: string | null,
  packaged: string,
  needed: boolean,
): Promise<Check> => {
  const places = bin === null ? [name, packaged] : [bin];
  let failed = '';
  for (const program of places) {
    const cli = await versionOf(program, cliMs);
    if ('said' in cli) return ok(name, `${cli.said} (${program})`);
    failed ||= cli.failed;
  }
  const found = `${places[0]} cannot be run (${failed})`;
  return needed ? problem(name, found, agentClis[name]) : note(name, found, agentClis[name]);
};

type HolderState = { alive: true; pid: number; protocol: number } | { alive: false; why: string };

/** It greets first: `{hello, protocol, pid, boot}` on one line. */
export const askHolder = (socket: string, timeoutMs = 2_000): Promise<HolderState> =>
  new Promise((resolve) => {
    let text = '';
    const line = connect(socket);
    const done = (state: HolderState) => {
      line.destroy();
      resolve(state);
    };
    line.setTimeout(timeoutMs, () => done({ alive: false, why: `says nothing within ${timeoutMs / 1000} s` }));
    line.on('error', (e: NodeJS.ErrnoException) => done({ alive: false, why: e.code ?? e.message }));
    line.on('close', () => done({ alive: false, why: 'closed the line' }));
    line.on('data', (part) => {
      text += part.toString('utf8');
      const end = text.indexOf('\n');
      if (end < 0) return;
      try {
        const hello = JSON.parse(text.slice(0, end)) as { pid?: unknown; protocol?: unknown };
        if (typeof hello.pid === 'number')
          return done({ alive: true, pid: hello.pid, protocol: Number(hello.protocol) });
      } catch {}
      done({ alive: false, why: 'answers in a language that is not the holder’s' });
    });
  });

export const checkHolder = (state: HolderState, agentsRun: boolean): Check => {
  if (state.alive) return ok('holder', `alive, pid ${state.pid}, protocol ${state.protocol}`);
  if (!agentsRun && (state.why === 'ENOENT' || state.why === 'ECONNREFUSED'))
    return note('holder', 'not started; the runner starts it with the first run');
  return problem(
    'holder',
    `not alive (${state.why})${agentsRun ? ' while executions run' : ''}`,
    'See DROVER_HOME/run/holder.log. What it held is ended as lost by the runner.',
  );
};
