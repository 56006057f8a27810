/** Who did what: one row for every change that a person or a key made, after the change is on disk. Never holds a secret. */
import { type Principal, principalScope } from '../contract/principal.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { type Committing, commit } from './commit.ts';

/** `action` is `noun.verb` (`agent.create`); `target` names what was changed as people know it. */
export const audit = async (
  deps: Committing & { kernel: Kernel },
  principal: Principal,
  action: string,
  target: string,
  data: Record<string, unknown> = {},
): Promise<void> => {
  const { clock, ids } = deps.kernel;
  await commit(deps, 'audit', { id: ids.next(clock.now()), by: principalScope(principal), action, target, data });
};
