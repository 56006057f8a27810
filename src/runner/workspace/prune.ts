/**
 * Workspaces that nobody works in any more and that were not kept at their ending (the disk was full), or whose runner was killed
 * before it. Their trees are kept under refs/drover/EXECUTION/left and only then removed: at the start of a runner, and when their
 * work is to go on. One that cannot be kept stays and is tried again. A copy outside of git is never touched.
 */
import { leftAttempt, leftBy } from '../../contract/kept-ref.ts';
import { type Kept, keep } from './keep.ts';
import { findWorkspace, rememberedExecutions } from './workspace.ts';

const keepLeft = async (home: string, execution: string): Promise<Kept | null> => {
  const workspace = findWorkspace(home, execution);
  if (workspace === null || (workspace.mode === 'copy' && workspace.repository === null)) return null;
  return await keep({ home, workspace, attempt: leftAttempt });
};

/** `ref`: the tree an execution is to go on from. One that is called lost may still be at work here. */
export const keepIfLeft = async (home: string, ref: string, atWork: (execution: string) => boolean): Promise<void> => {
  const execution = leftBy(ref);
  if (execution !== null && !atWork(execution)) await keepLeft(home, execution);
};

export const pruneWorkspaces = async (home: string, inUse: ReadonlySet<string>): Promise<Kept[]> => {
  const kept: Kept[] = [];
  for (const execution of rememberedExecutions(home)) {
    if (inUse.has(execution)) continue;
    const left = await keepLeft(home, execution);
    if (left !== null) kept.push(left);
  }
  return kept;
};
