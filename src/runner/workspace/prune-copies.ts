/**
 * Copies outside of git are all that holds their work, so they stay as long as refs of kept trees do (prune-refs.ts), and then go with
 * their record. Only directories named by an execution's id, below DROVER_HOME/runner/copies.
 */
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bornAt } from './prune-refs.ts';
import { forget, places } from './workspace.ts';

const names = (dir: string): string[] => {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
};

/** Resolves with how many were deleted. `before`: of executions submitted before that moment, which none that is at work is. */
export const pruneCopies = async (
  home: string,
  before: number,
  atWork: (execution: string) => boolean,
): Promise<number> => {
  const { copies } = places(home);
  const old = names(copies).filter((execution) => {
    const born = bornAt(execution);
    return born !== null && born < before && !atWork(execution);
  });
  for (const execution of old) {
    await rm(join(copies, execution), { recursive: true, force: true });
    forget(home, execution);
  }
  return old.length;
};
