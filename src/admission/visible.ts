/**
 * Who may see and use which agent. Used by admission and by every route that names an agent or an execution: what a
 * principal may not see is answered exactly as what does not exist (the uniform 404, R44). An agent never has its owner's
 * rights: it sees the agents of its own owner and nothing else.
 */
import type { AgentRow } from '../contract/agent.ts';
import { cleanName } from '../contract/names.ts';
import type { Principal } from '../contract/principal.ts';
import type { Store } from '../store/store.ts';

/** The agent of that name when it exists and the principal may see it, else null. */
export const visibleAgent = async (
  store: Pick<Store, 'read'>,
  name: string,
  principal: Principal,
): Promise<AgentRow | null> => {
  const agent = await store.read('agent_by_name', { name: cleanName(name) });
  return agent !== null && (await maySee(store, agent, principal)) ? agent : null;
};

export const maySee = async (store: Pick<Store, 'read'>, agent: AgentRow, principal: Principal): Promise<boolean> => {
  switch (principal.kind) {
    case 'user':
    case 'system':
      return true;
    case 'runner':
      return false;
    case 'agent':
    case 'execution': {
      if (principal.agentId === agent.id) return true;
      const self = await store.read('agent_by_name', { name: principal.name });
      return self !== null && self.id === principal.agentId && self.owner_id === agent.owner_id;
    }
    default:
      return principal satisfies never;
  }
};
