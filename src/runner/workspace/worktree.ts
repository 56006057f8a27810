/**
 * A git worktree of its own for an execution: detached, so that no branch is taken or moved, under DROVER_HOME. Made, found
 * again when an earlier attempt left it (a crash, a tree that could not be kept), and removed when its tree has been kept.
 * A session does not hang on the path: Claude Code 2.1.332 resumes one by its id from any directory (tried).
 */
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { letPass } from '../launchers/agent-user.ts';
import { actAs, GitFailed, git, longMs } from './git.ts';
import { inTurn } from './in-turn.ts';
import type { Repository } from './workspace.ts';

/** In the worktree's git directory: what it began from. */
const baseFile = 'drover-base';

interface Worktree {
  root: string;
  git_dir: string;
  base: string;
}

const gitDirOf = async (root: string, repository: Repository): Promise<string | null> => {
  const { code, stdout } = await git(['rev-parse', '--absolute-git-dir', '--git-common-dir'], {
    cwd: root,
    ownerOf: repository.git_dir,
    accept: [128],
  });
  const [gitDir = '', commonDir = ''] = stdout.split('\n');
  return code === 0 && commonDir === repository.common_dir ? gitDir : null;
};

/** Of an earlier attempt; null when there is none there. */
export const findWorktree = async (root: string, repository: Repository): Promise<Worktree | null> => {
  if (!existsSync(join(root, '.git'))) return null;
  const gitDir = await gitDirOf(root, repository);
  if (gitDir === null || !existsSync(join(gitDir, baseFile))) return null;
  return { root, git_dir: gitDir, base: readFileSync(join(gitDir, baseFile), 'utf8').trim() };
};

/**
 * Ours are added one after another, those of a person, of another installation or of a git that a killed runner left behind are
 * not: an adding that meets their half-made record dies of it (2 of 120 with four at once).
 */
const addTries = 5;

const again = async <T>(tries: number, run: () => Promise<T>): Promise<T> => {
  for (let left = tries; ; left--)
    try {
      return await run();
    } catch (error) {
      if (left <= 1 || (error instanceof GitFailed && error.missing)) throw error;
    }
};

export const makeWorktree = async (
  home: string,
  root: string,
  repository: Repository,
  commit: string,
): Promise<Worktree> => {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const owner = actAs(repository.git_dir);
  if (owner) {
    letPass(home, dirname(root));
    chownSync(root, owner.uid, owner.gid);
  }
  const run = { cwd: repository.top, ownerOf: repository.git_dir, timeoutMs: longMs };
  let gitDir: string | null = null;
  try {
    // Force: the path may still be registered although it was deleted. Without the checkout, which may take long and is safe
    // beside others; the adding itself reads the half-made records of others and dies of them (seen with six at once).
    const add = ['worktree', 'add', '--force', '--detach', '--no-checkout', '--quiet', root, commit];
    await inTurn(repository.common_dir, () => again(addTries, () => git(add, run)));
    await git(['reset', '--hard', '--quiet'], { ...run, cwd: root });
    gitDir = await gitDirOf(root, repository);
    if (gitDir === null) throw new GitFailed(['worktree'], `${root} did not become a worktree`, false);
    writeFileSync(join(gitDir, baseFile), commit);
    return { root, git_dir: gitDir, base: commit };
  } catch (error) {
    await removeWorktree(root, gitDir ?? (await gitDirOf(root, repository).catch(() => null)), repository);
    throw error;
  }
};

/**
 * The directory and git's record of it, and no other: `git worktree prune` would also forget a person's worktree on a disk
 * that is not mounted now.
 */
export const removeWorktree = async (root: string, gitDir: string | null, repository: Repository): Promise<void> => {
  rmSync(root, { recursive: true, force: true });
  if (gitDir === null || dirname(gitDir) !== join(repository.common_dir, 'worktrees')) return;
  await inTurn(repository.common_dir, async () => rmSync(gitDir, { recursive: true, force: true }));
};
