/** Who may see an item: people all, an agent and its executions their own. What is not seen is answered like what is not there. */
import type { OperatorItemRow } from '../contract/operator.ts';
import type { Principal } from '../contract/principal.ts';
import type { Deps } from '../flow/deps.ts';

export const visibleItem = async (
  deps: Pick<Deps, 'store'>,
  id: string,
  principal: Principal,
): Promise<OperatorItemRow | null> => {
  const item = await deps.store.read('operator_item', { id });
  if (item === null) return null;
  switch (principal.kind) {
    case 'user':
    case 'system':
      return item;
    case 'runner':
      return null;
    case 'agent':
    case 'execution':
      return item.agent_name === principal.name ? item : null;
    default:
      return principal satisfies never;
  }
};
