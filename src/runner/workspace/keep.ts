/**
 * At every ending, also after a kill: the tree becomes a commit under refs/drover/EXECUTION/ATTEMPT of the person's repository,
 * with what changed counted. Then a worktree or copy of ours is removed; when it could not be kept, it stays, and the error
 * says where. A copy without a repository stays as it is: nothing else holds its work. Never throws.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import type { Facts } from '../../contract/facts.ts';
import { keptRef } from '../../contract/kept-ref.ts';
import { ownTree } from '../launchers/agent-user.ts';
import { diffOf } from './diff.ts';
import { actAs, git, longMs } from './git.ts';
import { rememberRepository } from './prune-refs.ts';
import { commitOf } from './repository.ts';
import { snapshot } from './snapshot.ts';
import { baseRefOf, forget, type Repository, type Workspace } from './workspace.ts';
import { removeWorktree } from './worktree.ts';

export type Kept = NonNullable<Facts['workspace']>;

interface Changes {
  files_changed: number;
  insertions: number;
  deletions: number;
}

/** `12\t3\tpath` per file; a binary one has `-` for both. */
export const parseNumstat = (text: string): Changes => {
  const rows = text.split('\0').filter((row) => row !== '');
  const sum = (column: number) => rows.reduce((n, row) => n + (Number(row.split('\t')[column]) || 0), 0);
  return { files_changed: rows.length, insertions: sum(0), deletions: sum(1) };
};

const changesBetween = async (gitDir: string, base: string, commit: string): Promise<Changes> => {
  const args = ['diff-tree', '-r', '-z', '--numstat', '--no-renames', '--no-ext-diff', '--no-textconv', base, commit];
  // Comparing two commits needs no index, yet git reads it: one torn by a kill must not hide what changed.
  const run = { cwd: gitDir, gitDir, index: '/nonexistent/index', ownerOf: gitDir, timeoutMs: longMs };
  return parseNumstat((await git(args, run)).stdout);
};

/** Of a tree that was not kept. */
export const nothingKept = { ref: null, commit: null, files_changed: null, insertions: null, deletions: null };

/** Of a keeping that a killed runner had finished without telling: the ref is there, the record is not any more. */
export const keptBefore = async (
  { repository, note }: { repository: Repository | null; note: string | null },
  execution: string,
  attempt: string,
  place: Pick<Kept, 'mode' | 'path'>,
): Promise<Kept> => {
  const ref = keptRef(execution, attempt);
  const commit = repository === null ? null : await commitOf(repository.git_dir, ref);
  if (repository === null || commit === null) return { ...place, ...nothingKept, keep_error: note };
  const base = await commitOf(repository.git_dir, baseRefOf(execution));
  const { git_dir } = repository;
  const changes = base === null ? {} : await changesBetween(git_dir, base, commit);
  const diff = base === null ? null : await diffOf(git_dir, base, commit);
  return { ...place, ...nothingKept, ref, commit, ...changes, keep_error: null, diff };
};

interface KeepAsk {
  home: string;
  workspace: Workspace;
  /** The attempt's id. */
  attempt: string;
}

export const keep = async ({ home, workspace, attempt }: KeepAsk): Promise<Kept> => {
  const { mode, root, repository, git_dir: gitDir, execution } = workspace;
  const kept: Kept = {
    mode,
    path: workspace.cwd,
    ...nothingKept,
    keep_error: workspace.note,
  };
  if (repository === null || gitDir === null) {
    // The record of a copy stays with it: a retry then goes on there, and never takes finished work for half a copy.
    if (mode !== 'copy') forget(home, execution);
    return kept;
  }
  try {
    if (!existsSync(gitDir)) throw new Error(`${gitDir} is gone`);
    // An agent that removed all of its tree has removed all of it: that is what is kept, with the commits it made before.
    if (mode !== 'shared') mkdirSync(root, { recursive: true, mode: 0o700 });
    const owner = mode === 'shared' ? null : actAs(repository.git_dir);
    // What an agent of another user made must be readable for the repository's owner, as whom git runs.
    if (owner) ownTree(root, owner);
    // A copy's own HEAD is not the repository's; in a worktree the agent's commits come before ours.
    const head = mode === 'copy' ? null : await commitOf(gitDir, 'HEAD');
    const before = [...new Set([mode === 'worktree' ? null : workspace.base, head ?? workspace.base])];
    const parents = before.filter((c): c is string => c !== null);
    const tree = { gitDir, root, prefix: mode === 'worktree' ? '' : repository.prefix, home };
    const { commit, leftOut } = await snapshot(tree, parents, `Kept by Drover\n\nDrover-Execution: ${execution}`);
    const ref = keptRef(execution, attempt);
    const run = { cwd: gitDir, gitDir, ownerOf: gitDir };
    rememberRepository(home, repository.git_dir);
    await git(['update-ref', ref, commit], run);
    if (workspace.base !== null) await git(['update-ref', baseRefOf(execution), workspace.base], run);
    Object.assign(kept, { ref, commit, keep_error: leftOut ?? workspace.note });
    if (workspace.base !== null) {
      Object.assign(kept, await changesBetween(gitDir, workspace.base, commit));
      kept.diff = await diffOf(gitDir, workspace.base, commit);
    }
    if (mode === 'worktree') await removeWorktree(root, gitDir, repository);
    if (mode === 'copy') rmSync(root, { recursive: true, force: true });
    forget(home, execution);
  } catch (error) {
    // Somebody else's work by the next start: it must never be kept as this run's.
    if (mode === 'shared') forget(home, execution);
    const where = mode === 'shared' ? '' : ` The files are still in ${root}.`;
    kept.keep_error = `${(error as Error).message}.${where}`;
  }
  return kept;
};
