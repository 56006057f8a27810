/**
 * A working tree as a commit, by plumbing and a temporary index: the person's index, branch and HEAD stay as they are. The
 * index is begun as a copy of the tree's own, so that unchanged files are not read again. Ignored files are not part of it, nor
 * is DROVER_HOME when it lies inside, nor new files above 100 MiB (each would stay in the repository for good); whatever had to
 * be left out is named.
 */
import {
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { actAs, GitFailed, git, longMs } from './git.ts';
import { commitOf } from './repository.ts';

const newFileBytes = 100 * 1024 * 1024;

interface Tree {
  gitDir: string;
  /** Top of the working tree. */
  root: string;
  /** Only this below the top; empty = all. */
  prefix: string;
  /** DROVER_HOME: never part of a tree. */
  home: string;
}

interface Snapshot {
  commit: string;
  /** Null = everything is in it. */
  leftOut: string | null;
}

export const withIndex = async <T>(gitDir: string, use: (index: string) => Promise<T>): Promise<T> => {
  const dir = mkdtempSync(join(tmpdir(), 'drover-index-'));
  try {
    const owner = actAs(gitDir);
    if (owner) chownSync(dir, owner.uid, owner.gid);
    return await use(join(dir, 'index'));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

const tooLarge = async (tree: Tree, index: string): Promise<string[]> => {
  const { stdout } = await git(['ls-files', '--others', '--exclude-standard', '-z'], {
    ...runIn(tree),
    index,
    timeoutMs: longMs,
  });
  return stdout.split('\0').filter((name) => {
    const stat = name === '' ? undefined : lstatSync(join(tree.root, name), { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.size > newFileBytes;
  });
};

const runIn = (tree: Tree) => ({
  cwd: tree.root,
  gitDir: tree.gitDir,
  workTree: tree.root,
  ownerOf: tree.gitDir,
});

/** Fills the index from the working tree. Resolves with what git could not add (unreadable, a nested empty repository). */
const addAll = async (tree: Tree, index: string): Promise<string[]> => {
  const large = await tooLarge(tree, index);
  const home = existsSync(tree.home) ? relative(realpathSync(tree.root), realpathSync(tree.home)) : '';
  const without = [...large, ...(home.startsWith('..') || home === '' ? [] : [home])];
  // `top` counts from the top of the tree, `literal` takes a name with stars for what it is.
  const specs = [`:(top,literal)${tree.prefix}`, ...without.map((name) => `:(top,exclude,literal)${name}`)];
  const { code, stderr } = await git(
    ['add', '--all', '--ignore-errors', '--pathspec-from-file=-', '--pathspec-file-nul'],
    { ...runIn(tree), index, input: specs.join('\0'), timeoutMs: longMs, accept: [1] },
  );
  const refused = code === 0 ? [] : [stderr.trim().slice(0, 400) || 'git add could not take every file'];
  return [...large.map((name) => `${name} is a new file above 100 MiB`), ...refused];
};

export const snapshot = async (tree: Tree, parents: string[], message: string): Promise<Snapshot> =>
  withIndex(tree.gitDir, async (index) => {
    const run = { ...runIn(tree), index };
    const startAfresh = async () => {
      rmSync(index, { force: true });
      const from = parents[0] ?? (await commitOf(tree.gitDir, 'HEAD'));
      if (from !== null) await git(['read-tree', from], { ...run, timeoutMs: longMs });
    };
    const own = join(tree.gitDir, 'index');
    let leftOut: string[];
    try {
      if (existsSync(own)) {
        copyFileSync(own, index);
        // Git takes a file for unchanged when size and time agree, unless the index is not younger than the file. A copy
        // with a time of its own would hide a change of equal size in the second of the checkout (seen: five of six lost).
        const second = Math.floor(statSync(own).mtimeMs / 1000);
        utimesSync(index, second, second);
        const owner = actAs(tree.gitDir);
        if (owner) chownSync(index, owner.uid, owner.gid);
      } else await startAfresh();
      leftOut = await addAll(tree, index);
    } catch (error) {
      // An index that was being written when its agent was killed, or a half merge: begin again from the commit.
      if (!(error instanceof GitFailed)) throw error;
      await startAfresh();
      leftOut = await addAll(tree, index);
    }
    const treeId = (await git(['write-tree'], { ...run, timeoutMs: longMs })).stdout.trim();
    const note = leftOut.length === 0 ? null : `Not in the kept tree: ${leftOut.join('; ')}`;
    const [only, ...others] = parents;
    if (only !== undefined && others.length === 0) {
      const before = (await git(['rev-parse', `${only}^{tree}`], run)).stdout.trim();
      if (before === treeId) return { commit: only, leftOut: note };
    }
    const { stdout } = await git(['commit-tree', treeId, ...parents.flatMap((p) => ['-p', p]), '-m', message], run);
    return { commit: stdout.trim(), leftOut: note };
  });
