/** A DROVER_HOME and a place for a repository, for tests that prepare and keep workspaces. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { prepare } from '../../src/runner/workspace/prepare.ts';
import type { Problem, Workspace, WorkspaceAsk } from '../../src/runner/workspace/workspace.ts';
import { gitIn, removeAll, tempDir } from './repo.ts';

export interface WorkspaceBench {
  temp: string;
  home: string;
  repo: string;
  ask(more?: Partial<WorkspaceAsk['agent']>, execution?: string, resume?: string | null): WorkspaceAsk;
  made(ask: WorkspaceAsk): Promise<Workspace>;
  problem(ask: WorkspaceAsk): Promise<Problem>;
  /** A file of the repository as it is in a commit. */
  show(ref: string, file: string): string;
  end(): void;
}

export const keptRef = (attempt = 'att1', execution = 'exec1') => `refs/drover/${execution}/${attempt}`;

export const workspaceBench = (): WorkspaceBench => {
  const temp = tempDir();
  const [home, repo] = [join(temp, 'home'), join(temp, 'repo')];
  mkdirSync(home);
  return {
    temp,
    home,
    repo,
    ask: (more = {}, execution = 'exec1', resume = null) => ({
      home,
      execution,
      agent: { name: 'coder', workspace: repo, workspace_mode: null, max_parallel_tasks: 3, ...more },
      resume_ref: resume,
    }),
    made: async (ask) => {
      const prepared = await prepare(ask);
      if ('problem' in prepared) throw new Error(prepared.problem.message);
      return prepared.workspace;
    },
    problem: async (ask) => {
      const prepared = await prepare(ask);
      if ('workspace' in prepared) throw new Error('it was prepared');
      return prepared.problem;
    },
    show: (ref, file) => gitIn(repo, 'show', `${ref}:${file}`),
    end: () => removeAll(temp),
  };
};
