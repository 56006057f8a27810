/** The verbs by name: one line each. What is missing here does not exist: the engines run nothing else. */
import type { ReadVerbs, WriteVerbs } from '../store.ts';
import type { ReadVerb, WriteVerb } from '../tx.ts';
import { agentByName, agents } from './agent-reads.ts';
import { createAgent } from './agents.ts';
import { ping } from './ping.ts';

export const writeVerbs: { [V in keyof WriteVerbs]?: WriteVerb<V> } = {
  create_agent: createAgent,
};

export const readVerbs: { [V in keyof ReadVerbs]?: ReadVerb<V> } = {
  agent_by_name: agentByName,
  agents,
  ping,
};
