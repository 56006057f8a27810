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

const show = ['diff-tree', '-r', '--no-color', '--no-ext-diff', '--no-textconv', '--stat', '--patch'];

/** `where`: the repository itself, or a directory in it. */
const diffIn = async (
  where: { cwd: string; gitDir?: string },
  base: string,
  commit: string,
  maxBytes = diffBytes,
): Promise<Diff> => {
  const run = { ...where, index: '/nonexistent/index', ownerOf: where.cwd, timeoutMs: longMs, maxBytes };
  const { stdout, truncated } = await git([...show, base, commit, '--'], run);
  return { text: stdout, truncated };
};

/** As it travels with the facts. */
export const diffOf = (gitDir: string, base: string, commit: string, maxBytes?: number): Promise<Diff> =>
  diffIn({ cwd: gitDir, gitDir }, base, commit, maxBytes);

/** From the tree an execution began with to the one kept under `ref`, read again in a workspace of this host. */
export const workDiff = (dir: string, execution: string, ref: string): Promise<Diff> =>
  diffIn({ cwd: dir }, baseRefOf(execution), ref);
