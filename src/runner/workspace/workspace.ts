/**
 * Where an attempt works and what is kept of it. Three modes: `worktree` (a git worktree of its own per execution), `shared`
 * (the directory itself), `copy` (a copy of its own). A `Workspace` is plain data; it lies under DROVER_HOME/runner/workspaces
 * until it has been kept, so that a restarted runner keeps what an earlier one prepared.
 *
 * Promised in every mode: the person's branch, index and HEAD are never changed by us. What the agent itself does with git in
 * `shared` mode is its own doing.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { WorkspaceMode } from '../../contract/agent.ts';
import { keptRef } from '../../contract/kept-ref.ts';
import type { ClaimedAgent } from '../../contract/runner-protocol.ts';
import { readRecord, writeRecord } from '../record-file.ts';

export interface WorkspaceAsk {
  home: string;
  execution: string;
  agent: Pick<ClaimedAgent, 'name' | 'workspace' | 'workspace_mode' | 'max_parallel_tasks'>;
  /** The tree of an earlier attempt to go on from. */
  resume_ref: string | null;
}

/** The repository whose objects and refs keep the tree. */
export const Repository = z.object({
  /** The top directory of the person's working tree. */
  top: z.string(),
  git_dir: z.string(),
  common_dir: z.string(),
  /** The workspace below `top`, with a slash at its end; empty = the top itself. */
  prefix: z.string(),
});
export type Repository = z.infer<typeof Repository>;

export const Workspace = z.object({
  execution: z.string(),
  mode: WorkspaceMode,
  /** Where the process starts. */
  cwd: z.string(),
  /** The top of the tree the agent has: the worktree, the copy, or the person's own. */
  root: z.string(),
  repository: Repository.nullable(),
  /** Git directory of `root`: that of the worktree, else that of the repository. */
  git_dir: z.string().nullable(),
  /** The commit that holds the tree as it was before the execution's first attempt; what changed is counted from it. */
  base: z.string().nullable(),
  /** What an operator should know: why no tree can be kept, why a resume began afresh. */
  note: z.string().nullable(),
});
export type Workspace = z.infer<typeof Workspace>;

export interface Problem {
  code: 'workdir_missing' | 'workspace_unusable';
  message: string;
}
export type Prepared = { workspace: Workspace } | { problem: Problem };

export const places = (home: string) => ({
  records: join(home, 'runner', 'workspaces'),
  worktrees: join(home, 'runner', 'worktrees'),
  copies: join(home, 'runner', 'copies'),
  defaults: join(home, 'workspaces'),
});

/** The tree its execution began from: a retry is counted from there, too. */
export const baseRefOf = (execution: string): string => keptRef(execution, 'base');

const recordFile = (home: string, execution: string) => join(places(home).records, `${execution}.json`);

export const remember = (home: string, workspace: Workspace): void => {
  mkdirSync(places(home).records, { recursive: true, mode: 0o700 });
  writeRecord(recordFile(home, workspace.execution), workspace);
};

export const forget = (home: string, execution: string): void => rmSync(recordFile(home, execution), { force: true });

/** After a restart: what was prepared for this execution and not yet kept. */
export const findWorkspace = (home: string, execution: string): Workspace | null =>
  readRecord(recordFile(home, execution), Workspace);

export const rememberedExecutions = (home: string): string[] => {
  try {
    return readdirSync(places(home).records).flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -5)] : []));
  } catch {
    return [];
  }
};
