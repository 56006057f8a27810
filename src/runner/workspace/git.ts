/**
 * Runs git: never through a shell, always with a bound, with nothing of the person's or the repository's set-up that runs
 * programs or asks questions (hooks, signing, fsmonitor, editors, prompts), and with an environment of its own, so that no
 * GIT_DIR of whoever started Drover leads it astray. As root it acts as the owner of the repository: its files stay theirs, and a
 * configuration written by an agent gets no more rights than the repository's owner has.
 */
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { findUserById } from '../launchers/agent-user.ts';
import { readText } from '../launchers/proc.ts';

/** Git on a slow disk takes seconds, on a hung network mount for ever. */
const usualMs = 60_000;
/** Checking out or hashing a tree of some 10 GB. */
export const longMs = 600_000;
/** Lists of paths of a large repository. */
const outputBytes = 64 * 1024 * 1024;

const path = [
  '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  '/opt/homebrew/bin:/run/current-system/sw/bin:/home/linuxbrew/.linuxbrew/bin:/snap/bin',
].join(':');

const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.splitIndex=false',
  'commit.gpgSign=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  'core.quotePath=false',
  'advice.addEmbeddedRepo=false',
  'advice.detachedHead=false',
  // The directories are named by whoever configured the agent; a foreign owner is no reason to lose work.
  'safe.directory=*',
].flatMap((s) => ['-c', s]);

interface GitRun {
  cwd: string;
  /** Explicit, so that a `.git` the agent moved or made anew changes nothing. */
  gitDir?: string;
  workTree?: string;
  index?: string;
  input?: string;
  timeoutMs?: number;
  /** Whose rights: the owner of this path when we are root. */
  ownerOf: string;
  /** Exit codes that are answers. */
  accept?: readonly number[];
  maxBytes?: number;
}

interface GitAnswer {
  code: number;
  stdout: string;
  stderr: string;
  truncated: boolean;
}

export class GitFailed extends Error {
  readonly missing: boolean;
  constructor(args: string[], stderr: string, missing: boolean) {
    super(missing ? 'git is not installed on this host' : `git ${args[0]}: ${stderr.trim().slice(0, 600) || 'failed'}`);
    this.name = 'GitFailed';
    this.missing = missing;
  }
}

/** The owner to act as; null = as we are. */
export const actAs = (ownerOf: string): { uid: number; gid: number; home: string } | null => {
  if (process.getuid?.() !== 0) return null;
  const stat = statSync(ownerOf, { throwIfNoEntry: false });
  if (!stat || stat.uid === 0) return null;
  const home = findUserById(readText('/etc/passwd') ?? '', stat.uid)?.home ?? '/nonexistent';
  return { uid: stat.uid, gid: stat.gid, home };
};

export const git = (args: string[], run: GitRun): Promise<GitAnswer> => {
  const owner = actAs(run.ownerOf);
  const env: Record<string, string> = {
    PATH: path,
    HOME: owner?.home ?? homedir(),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_PAGER: 'cat',
    GIT_EDITOR: 'false',
    GIT_AUTHOR_NAME: 'Drover',
    GIT_AUTHOR_EMAIL: 'drover@localhost',
    GIT_COMMITTER_NAME: 'Drover',
    GIT_COMMITTER_EMAIL: 'drover@localhost',
  };
  if (run.gitDir !== undefined) env.GIT_DIR = run.gitDir;
  if (run.workTree !== undefined) env.GIT_WORK_TREE = run.workTree;
  if (run.index !== undefined) env.GIT_INDEX_FILE = run.index;
  const options = {
    cwd: run.cwd,
    env,
    timeout: run.timeoutMs ?? usualMs,
    killSignal: 'SIGKILL' as const,
    maxBuffer: run.maxBytes ?? outputBytes,
    ...(owner ? { uid: owner.uid, gid: owner.gid } : {}),
  };
  return new Promise((resolve, reject) => {
    const child = execFile('git', [...settings, ...args], options, (error, stdout, stderr) => {
      const code = error?.code ?? 0;
      if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER' && run.maxBytes !== undefined)
        return resolve({ code: 0, stdout, stderr, truncated: true });
      if (error?.killed) return reject(new GitFailed(args, `took longer than ${options.timeout / 1000} s`, false));
      if (typeof code === 'number' && (code === 0 || run.accept?.includes(code)))
        return resolve({ code, stdout, stderr, truncated: false });
      // Node names the program when it is the directory that is missing.
      const astray = code === 'ENOENT' && !existsSync(run.cwd);
      const why = astray ? `${run.cwd} is gone` : stderr || String(error?.message);
      reject(new GitFailed(args, why, code === 'ENOENT' && !astray));
    });
    // A git that ends before it has read everything: its exit code says the rest.
    child.stdin?.on('error', () => {});
    child.stdin?.end(run.input ?? '');
  });
};
