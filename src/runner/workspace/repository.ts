/**
 * The git repository a directory belongs to, or null. Looked for by walking up first, so that the usual workspace without git
 * costs no process. A directory of ours never belongs to a repository around DROVER_HOME (a home directory kept in git), and
 * one that its repository ignores does not belong to it either.
 */
import { existsSync, lstatSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { GitFailed, git } from './git.ts';
import type { Repository } from './workspace.ts';

const isInside = (outer: string, path: string): boolean => !relative(outer, path).startsWith('..');

/** As git sees it: a file that leads to one, or a directory with a HEAD; an empty `.git` is passed over. */
const isGit = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() === true || existsSync(join(path, 'HEAD'));

const hasGitAbove = (dir: string, home: string): boolean => {
  const ours = isInside(home, dir);
  for (let at = dir; ; at = dirname(at)) {
    if (ours && at === home) return false;
    if (isGit(join(at, '.git'))) return true;
    if (at === dirname(at)) return false;
  }
};

export const findRepository = async (
  dir: string,
  home: string,
): Promise<{ repository: Repository | null; note: string | null }> => {
  if (!hasGitAbove(dir, home)) return { repository: null, note: null };
  const run = { cwd: dir, ownerOf: dir };
  try {
    const { stdout } = await git(
      ['rev-parse', '--show-toplevel', '--absolute-git-dir', '--git-common-dir', '--show-prefix'],
      run,
    );
    const [top = '', gitDir = '', commonDir = '', prefix = ''] = stdout.split('\n');
    if (prefix !== '' && (await git(['check-ignore', '-q', '--', dir], { ...run, accept: [1] })).code === 0)
      return { repository: null, note: `The repository ${top} ignores this directory.` };
    return { repository: { top, git_dir: gitDir, common_dir: resolve(dir, commonDir), prefix }, note: null };
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    return { repository: null, note: error.message };
  }
};

/** The commit a name stands for; null when there is none (an unborn branch, a ref that was deleted). */
export const commitOf = async (gitDir: string, name: string): Promise<string | null> => {
  const run = { cwd: gitDir, gitDir, ownerOf: gitDir, accept: [1, 128] };
  const { code, stdout } = await git(['rev-parse', '--verify', '--quiet', `${name}^{commit}`], run);
  return code === 0 ? stdout.trim() : null;
};
