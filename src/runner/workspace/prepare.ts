/**
 * Before the spawn: from what the agent says to a directory to start in. What a person set wrongly is a problem with advice,
 * never an exception; a mode that was asked for is never quietly replaced by another one.
 */
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { leftBy } from '../../contract/kept-ref.ts';
import { copyTree } from './copy-tree.ts';
import { GitFailed, git, longMs } from './git.ts';
import { commitOf, findRepository } from './repository.ts';
import { snapshot, withIndex } from './snapshot.ts';
import {
  baseRefOf,
  findWorkspace,
  type Prepared,
  type Problem,
  places,
  type Repository,
  remember,
  type Workspace,
  type WorkspaceAsk,
} from './workspace.ts';
import { findWorktree, makeWorktree } from './worktree.ts';

const unusable = (message: string): { problem: Problem } => ({ problem: { code: 'workspace_unusable', message } });

/** The agent's directory; one of its own under DROVER_HOME when it names none. */
const directoryOf = (ask: WorkspaceAsk): string | { problem: Problem } => {
  const { workspace, name } = ask.agent;
  if (workspace === null) {
    const own = join(places(ask.home).defaults, name);
    mkdirSync(own, { recursive: true, mode: 0o700 });
    return own;
  }
  const missing = (what: string) => ({
    problem: {
      code: 'workdir_missing' as const,
      message: `The workspace ${workspace} ${what}. Create the directory, or set workspace of the agent ${name}.`,
    },
  });
  try {
    const stat = statSync(workspace, { throwIfNoEntry: false });
    if (stat === undefined) return missing('does not exist');
    return stat.isDirectory() ? workspace : missing('is not a directory');
  } catch (error) {
    return missing(`cannot be reached (${(error as NodeJS.ErrnoException).code})`);
  }
};

const messageOf = (ask: WorkspaceAsk, what: string) =>
  `${what} of ${ask.agent.name}\n\nDrover-Execution: ${ask.execution}`;

/** The tree as it stands now, user's unsaved work and all, as a commit that no branch leads to. */
const baseOf = async (ask: WorkspaceAsk, { git_dir, top, prefix }: Repository): Promise<string> => {
  const head = await commitOf(git_dir, 'HEAD');
  const tree = { gitDir: git_dir, root: top, prefix, home: ask.home };
  return (await snapshot(tree, head === null ? [] : [head], messageOf(ask, 'Before a run'))).commit;
};

/** Of an earlier attempt of the same execution. */
const firstBase = (ask: WorkspaceAsk, gitDir: string) => commitOf(gitDir, baseRefOf(ask.execution));

/** Without a record no agent has been in there: it is what a runner that was killed in the middle of preparing left. */
const discardHalfMade = (ask: WorkspaceAsk, root: string): void => {
  if (findWorkspace(ask.home, ask.execution) === null) rmSync(root, { recursive: true, force: true });
};

const inWorktree = async (ask: WorkspaceAsk, repository: Repository): Promise<Workspace> => {
  const root = join(places(ask.home).worktrees, ask.execution);
  const resume = ask.resume_ref === null ? null : await commitOf(repository.git_dir, ask.resume_ref);
  discardHalfMade(ask, root);
  const found = await findWorktree(root, repository);
  const tree =
    found ??
    // A repository without any commit has no HEAD to begin from: its files as they are do instead.
    (await makeWorktree(
      ask.home,
      root,
      repository,
      resume ?? (await commitOf(repository.git_dir, 'HEAD')) ?? (await baseOf(ask, repository)),
    ));
  const cwd = join(root, repository.prefix);
  mkdirSync(cwd, { recursive: true });
  const note =
    ask.resume_ref !== null && resume === null && !found ? `${ask.resume_ref} is gone: begun from HEAD.` : null;
  const base = (await firstBase(ask, repository.git_dir)) ?? tree.base;
  return { ...tree, base, execution: ask.execution, mode: 'worktree', cwd, repository, note };
};

/** Outside of git the copy of the turn before is all that holds its work. */
const copyToGoOn = (ask: WorkspaceAsk): string | null => {
  const before = leftBy(ask.resume_ref ?? '');
  const left = before === null ? null : join(places(ask.home).copies, before);
  return left !== null && existsSync(left) ? left : null;
};

const inCopy = async (ask: WorkspaceAsk, dir: string, repository: Repository | null): Promise<Workspace | string> => {
  const root = join(places(ask.home).copies, ask.execution);
  const cwd = join(root, repository?.prefix ?? '');
  discardHalfMade(ask, root);
  const found = existsSync(cwd);
  const left = repository === null ? copyToGoOn(ask) : null;
  const problem = found ? null : await copyTree(left ?? dir, cwd);
  if (problem !== null) return problem;
  const copy = { execution: ask.execution, mode: 'copy' as const, cwd, root, repository };
  if (repository === null) {
    const lost = ask.resume_ref !== null && left === null && !found;
    const note = lost ? 'The copy of the turn before is gone: begun from a fresh one.' : null;
    return { ...copy, git_dir: null, base: null, note };
  }
  const { git_dir } = repository;
  const before = found ? (findWorkspace(ask.home, ask.execution)?.base ?? null) : null;
  const base = before ?? (await baseOf(ask, repository));
  const resume = ask.resume_ref === null ? null : await commitOf(git_dir, ask.resume_ref);
  if (resume !== null && !found)
    await withIndex(git_dir, async (index) => {
      const run = { cwd: root, gitDir: git_dir, workTree: root, ownerOf: git_dir, index, timeoutMs: longMs };
      await git(['read-tree', base], run);
      // From one tree to the other in the working tree: also what the earlier attempt deleted.
      await git(['read-tree', '--reset', '-u', resume], run);
    });
  const note =
    ask.resume_ref !== null && resume === null ? `${ask.resume_ref} is gone: begun from a fresh copy.` : null;
  return { ...copy, git_dir, base: (await firstBase(ask, git_dir)) ?? resume ?? base, note };
};

const inPlace = async (
  ask: WorkspaceAsk,
  dir: string,
  repository: Repository | null,
  note: string | null,
): Promise<Workspace> => {
  const place = { execution: ask.execution, mode: 'shared' as const, cwd: dir, repository };
  const plain = { ...place, root: dir, git_dir: null, base: null };
  if (repository === null) return { ...plain, note };
  try {
    const base = (await firstBase(ask, repository.git_dir)) ?? (await baseOf(ask, repository));
    return { ...place, root: repository.top, git_dir: repository.git_dir, base, note };
  } catch (error) {
    // Keeping is our wish, running is the person's: a repository we may not write is still a workspace.
    if (!(error instanceof GitFailed)) throw error;
    return { ...plain, repository: null, note: `The tree cannot be kept: ${error.message}` };
  }
};

export const prepare = async (ask: WorkspaceAsk): Promise<Prepared> => {
  try {
    const dir = directoryOf(ask);
    if (typeof dir !== 'string') return dir;
    const { repository, note } = await findRepository(dir, ask.home);
    const mode =
      ask.agent.workspace_mode ?? (repository !== null && ask.agent.max_parallel_tasks > 1 ? 'worktree' : 'shared');
    if (mode === 'worktree' && repository === null)
      return unusable(
        `workspace_mode worktree needs a git repository, and ${dir} is in none${note ? ` (${note})` : ''}. Run git init there, or set workspace_mode to shared or copy.`,
      );
    const made =
      mode === 'worktree'
        ? await inWorktree(ask, repository!)
        : mode === 'copy'
          ? await inCopy(ask, dir, repository)
          : await inPlace(ask, dir, repository, note);
    if (typeof made === 'string') return unusable(`The workspace cannot be copied: ${made}`);
    remember(ask.home, made);
    return { workspace: made };
  } catch (error) {
    const { message } = error as Error;
    return unusable(`The workspace cannot be prepared: ${message}`);
  }
};
