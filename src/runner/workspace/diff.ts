/** What a run changed, as text for people: bounded, since a diff can be as large as a repository. */
import { git, longMs } from './git.ts';
import { baseRefOf } from './workspace.ts';

interface Diff {
  text: string;
  truncated: boolean;
}

/** `dir`: anywhere in the repository. `base` and `ref`: names of commits. */
export const diffOf = async (dir: string, base: string, ref: string, maxBytes = 200_000): Promise<Diff> => {
  const args = ['diff', '--no-color', '--no-ext-diff', '--no-textconv', '--stat', '--patch', base, ref, '--'];
  const { stdout, truncated } = await git(args, { cwd: dir, ownerOf: dir, timeoutMs: longMs, maxBytes });
  return { text: stdout, truncated };
};

/** From the tree an execution began with to the one kept under `ref`. */
export const workDiff = (dir: string, execution: string, ref: string): Promise<Diff> =>
  diffOf(dir, baseRefOf(execution), ref);
