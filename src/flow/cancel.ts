/** A person, a parent or an agent asks to stop an execution: a compare-and-set on the row the claimer sets (R25). */
import { commit } from '../record/commit.ts';
import type { WriteVerbs } from '../store/store.ts';
import type { Deps } from './deps.ts';

export const cancel = (
  deps: Deps,
  executionId: string,
  by: string,
  reason: string | null,
): Promise<WriteVerbs['cancel'][1]> => commit(deps, 'cancel', { execution_id: executionId, by, reason });

export const cancelFanOut = (
  deps: Deps,
  id: string,
  by: string,
  reason: string | null,
): Promise<WriteVerbs['cancel_fan_out'][1]> => commit(deps, 'cancel_fan_out', { id, by, reason });
