/**
 * At the start of a runner: workspaces that nobody works in any more (the runner was killed before it kept them and their attempt
 * is not known now). Their trees are kept under refs/drover/EXECUTION/left and only then removed; one that cannot be kept
 * stays and is tried again at the next start. A copy outside of git is never touched.
 */
import { type Kept, keep } from './keep.ts';
import { findWorkspace, rememberedExecutions } from './workspace.ts';

export const pruneWorkspaces = async (home: string, inUse: ReadonlySet<string>): Promise<Kept[]> => {
  const kept: Kept[] = [];
  for (const execution of rememberedExecutions(home)) {
    if (inUse.has(execution)) continue;
    const workspace = findWorkspace(home, execution);
    if (workspace && !(workspace.mode === 'copy' && workspace.repository === null))
      kept.push(await keep({ home, workspace, attempt: 'left' }));
  }
  return kept;
};
