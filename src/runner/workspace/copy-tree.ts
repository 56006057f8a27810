/** A directory copied whole, as cheaply as the file system allows (shared blocks where it can). Never half a copy: on failure nothing is left. */
import { execFile } from 'node:child_process';
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { longMs } from './git.ts';

const cp = (args: string[]): Promise<string | null> =>
  new Promise((resolve) => {
    const options = { timeout: longMs, killSignal: 'SIGKILL' as const, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } };
    execFile('cp', args, options, (error, _out, stderr) => resolve(error ? stderr.trim() || error.message : null));
  });

/** Null, or why not. */
export const copyTree = async (from: string, to: string): Promise<string | null> => {
  if (!relative(from, to).startsWith('..'))
    return `${to} lies inside ${from}: a copy would hold itself. Move DROVER_HOME out of the workspace, or use workspace_mode shared.`;
  mkdirSync(dirname(to), { recursive: true });
  let problem = await cp(['-a', '--reflink=auto', '--', from, to]);
  // Not every cp knows the option; whatever went wrong, the plain way says it best.
  if (problem !== null) {
    rmSync(to, { recursive: true, force: true });
    problem = await cp(['-a', '--', from, to]);
  }
  if (problem !== null) rmSync(to, { recursive: true, force: true });
  // A linked worktree has a file there that leads to the original's index and HEAD: git inside the copy would change those.
  else if (lstatSync(join(to, '.git'), { throwIfNoEntry: false })?.isFile()) rmSync(join(to, '.git'));
  return problem === null ? null : problem.slice(0, 600);
};
