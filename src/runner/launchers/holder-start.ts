/**
 * Where the holder of a DROVER_HOME listens, and how one is started when none does: in a session of its own, with an empty
 * environment (no secret of ours lies in its /proc/PID/environ), so that it outlives whoever started it. Two starts at once
 * end with one holder: the second finds the socket taken and leaves.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, lstatSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fault } from '../../contract/errors.ts';
import { homeHash } from '../../kernel/home-sockets.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { holderArgs } from '../../kernel/programs.ts';
import { scopePrefix } from './cgroup-place.ts';

/** Ready in 0.1 s as a bundle, 0.4 s from source; a loaded host gets its time. */
const startMs = 20_000;
/** Its log is started anew above this. */
const logBytes = 1024 * 1024;

/** The name under /tmp can be foreseen: a directory that somebody else put there is not used. */
const ownDirectory = (dir: string): void => {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const stat = lstatSync(dir);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.())
    throw new Fault('not_ready', `${dir} is not a directory of this user. Remove it, or choose a shorter DROVER_HOME.`);
  if ((stat.mode & 0o022) !== 0) throw new Fault('not_ready', `${dir} can be written by others. Run: chmod 700 ${dir}`);
};

/** src/holder/holder.ts in development, dist/server/holder.js beside the bundle. */
export const holderEntry = (): string =>
  fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../../holder/holder.ts' : './holder.js', import.meta.url));

interface StartHolder {
  home: string;
  socket: string;
  entry: string;
  /** Ask the user's systemd for a scope whose cgroup is ours to write. */
  inScope: boolean;
}

/** A user's systemd answers here when it runs; `systemd-run` itself must be there too. */
export const userSystemd = (): { run: string; runtimeDir: string } | null => {
  const runtimeDir = `/run/user/${process.getuid?.() ?? 0}`;
  const run = ['/usr/bin/systemd-run', '/bin/systemd-run'].find((path) => existsSync(path));
  return run !== undefined && existsSync(join(runtimeDir, 'systemd', 'private')) ? { run, runtimeDir } : null;
};

export const holderCommand = (o: StartHolder, systemd: ReturnType<typeof userSystemd>) => {
  const node = [process.execPath, ...holderArgs(o.entry), o.entry, o.home, o.socket];
  if (!o.inScope || systemd === null) return { argv: node, env: {} };
  // Delegate: the subtree below the scope belongs to this user, so runs get v2 leaves there. The scope also outlives the
  // unit that the runner may belong to. The unit's name is free again only when the last process has gone.
  const unit = `--unit=${scopePrefix}${homeHash(o.home)}-${process.pid}`;
  return {
    argv: [systemd.run, '--user', '--scope', '--quiet', '--collect', unit, '-p', 'Delegate=yes', '--', ...node],
    env: { XDG_RUNTIME_DIR: systemd.runtimeDir },
  };
};

/** Resolves true once a holder listens (this one, or one that was faster); false when it ended without a word. */
export const startHolder = async (o: StartHolder, { clock, log }: Kernel): Promise<boolean> => {
  ownDirectory(dirname(o.socket));
  const logFile = join(o.home, 'run', 'holder.log');
  mkdirSync(dirname(logFile), { recursive: true, mode: 0o700 });
  if ((statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) > logBytes) renameSync(logFile, `${logFile}.1`);
  const { argv, env } = holderCommand(o, userSystemd());
  const errors = openSync(logFile, 'a', 0o600);
  try {
    const child = spawn(argv[0]!, argv.slice(1), { cwd: '/', env, detached: true, stdio: ['ignore', 'pipe', errors] });
    child.unref();
    const word = await new Promise<string>((resolve) => {
      const undo = clock.after(startMs, () => resolve(''));
      const done = (text: string) => {
        undo();
        resolve(text);
      };
      child.once('error', () => done(''));
      child
        .stdout!.setEncoding('utf8')
        .once('data', done)
        .once('close', () => done(''));
    });
    child.stdout!.destroy();
    log.info(word === '' ? 'the holder did not start' : 'the holder is up', {
      pid: child.pid,
      socket: o.socket,
      said: word.trim(),
      log: logFile,
    });
    return word !== '';
  } finally {
    closeSync(errors);
  }
};
