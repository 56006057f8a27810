/** A git repository for tests, made by the git of this machine with no configuration of the person who runs them. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
const who = ['-c', 'user.name=Person', '-c', 'user.email=person@example.org', '-c', 'init.defaultBranch=main'];

export const gitIn = (dir: string, ...args: string[]): string =>
  execFileSync('git', [...who, ...args], { cwd: dir, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

export const tempDir = (): string => realpathSync(mkdtempSync(join(tmpdir(), 'held-repo-')));

export const put = (dir: string, files: Record<string, string>): void => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
};

/** A repository with one commit of `files`; none at all when they are left out. */
export const makeRepo = (dir: string, files?: Record<string, string>): string => {
  mkdirSync(dir, { recursive: true });
  gitIn(dir, 'init', '--quiet');
  if (files) {
    put(dir, files);
    gitIn(dir, 'add', '--all');
    gitIn(dir, 'commit', '--quiet', '-m', 'first');
  }
  return dir;
};

/** What a person would notice: branch, commit, staged and unstaged changes, other worktrees, branches. */
export const stateOf = (dir: string): Record<string, string> => ({
  head: gitIn(dir, 'symbolic-ref', 'HEAD'),
  commit: gitIn(dir, 'rev-parse', '--verify', '--quiet', 'HEAD'),
  status: gitIn(dir, 'status', '--porcelain=v2', '--untracked-files=all'),
  staged: gitIn(dir, 'ls-files', '--stage'),
  worktrees: gitIn(dir, 'worktree', 'list', '--porcelain'),
  branches: gitIn(dir, 'branch', '--all', '--format=%(refname) %(objectname)'),
  stash: gitIn(dir, 'stash', 'list'),
});

export const removeAll = (...dirs: string[]): void => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
};
