/**
 * What a run changed, as text for people: the files with their counts, then the patch. Bounded, since a diff can be as large as a
 * repository: it travels with the facts. Compares two commits and reads no index: one torn by a kill must not hide what changed.
 */
import { git, longMs } from './git.ts';
import { baseRefOf } from './workspace.ts';

interface Diff {
  text: string;
  truncated: boolean;
}

/** Some thousand lines; whoever needs all of it has the ref. */
const diffBytes = 64 * 1024;

/** `gitDir`: the repository itself, as for every git that has no tree. */
export const diffOf = async (gitDir: string, base: string, commit: string, maxBytes = diffBytes): Promise<Diff> => {
  const args = [
    'diff-tree',
    '-r',
    '--no-color',
    '--no-ext-diff',
    '--no-textconv',
    '--stat',
    '--patch',
    base,
    commit,
    '--',
  ];
  const run = { cwd: gitDir, gitDir, index: '/nonexistent/index', ownerOf: gitDir, timeoutMs: longMs, maxBytes };
  const { stdout, truncated } = await git(args, run);
  return { text: stdout, truncated };
};

/** From the tree an execution began with to the one kept under `ref`. */
export const workDiff = (dir: string, execution: string, ref: string): Promise<Diff> =>
  diffOf(dir, baseRefOf(execution), ref);
