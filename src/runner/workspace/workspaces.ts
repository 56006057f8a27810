/** What the attempt is handed: a claim becomes a directory before the spawn, and a kept tree after the ending. */
import type { Facts } from '../../contract/facts.ts';
import type { ClaimedWork } from '../../contract/runner-protocol.ts';
import type { Workspaces } from '../parts.ts';
import { type Kept, keep, keptBefore } from './keep.ts';
import { prepare } from './prepare.ts';
import { keepIfLeft, pruneWorkspaces } from './prune.ts';
import { findRepository } from './repository.ts';
import { findWorkspace } from './workspace.ts';

interface HostWorkspaces extends Workspaces {
  /** At the start, after the attempts of the last runner are known: `inUse` are their executions. */
  prune(inUse: ReadonlySet<string>): Promise<Kept[]>;
}

/** `atWork`: whether an attempt of this execution is on this host. */
export const createWorkspaces = (home: string, atWork: (execution: string) => boolean): HostWorkspaces => ({
  prepare: async (claim: ClaimedWork) => {
    const { execution_id: execution, agent, resume_ref } = claim;
    if (resume_ref !== null) await keepIfLeft(home, resume_ref, atWork);
    const made = await prepare({ home, execution, agent, resume_ref });
    if ('problem' in made) return { prepare_error: made.problem };
    return { mode: made.workspace.mode, path: made.workspace.cwd };
  },
  keep: async (claim, place): Promise<Facts['workspace']> => {
    const workspace = findWorkspace(home, claim.execution_id);
    if (workspace) return await keep({ home, workspace, attempt: claim.attempt });
    const found = await findRepository(claim.agent.workspace ?? place.path, home);
    return await keptBefore(found, claim.execution_id, claim.attempt, place);
  },
  prune: (inUse) => pruneWorkspaces(home, inUse),
});
