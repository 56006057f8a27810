/**
 * Agents by name, kept in memory between changes: every submit and every route that names an agent asks for one. A change
 * through this server forgets all at once (`stirred.agents_changed`); another server on the same database is followed within
 * `keptMs`. Only what exists is kept, so made-up names cost a read each and no memory.
 */
import type { AgentRow } from '../contract/agent.ts';
import type { Clock } from '../kernel/clock.ts';
import type { ReadVerbs, Stirred, Store } from '../store/store.ts';

/** As for who somebody is (api/auth.ts). */
const keptMs = 5_000;

interface KnownAgents {
  /** The store, with `agent_by_name` answered from memory when it can be. */
  store: Store;
  /** Told after every commit. */
  stir(stirred: Pick<Stirred, 'agents_changed'>): void;
}

export const createKnownAgents = (store: Store, clock: Pick<Clock, 'steady'>): KnownAgents => {
  const known = new Map<string, { agent: Readonly<AgentRow>; until: number }>();
  let age = 0;

  const byName = async (args: { name: string }): Promise<AgentRow | null> => {
    const kept = known.get(args.name);
    if (kept !== undefined && kept.until > clock.steady()) return kept.agent;
    const asked = age;
    const agent = await store.read('agent_by_name', args);
    if (agent === null) known.delete(args.name);
    // What was read before a change may be what it changed.
    else if (asked === age) known.set(args.name, { agent: Object.freeze(agent), until: clock.steady() + keptMs });
    return agent;
  };

  return {
    store: {
      ...store,
      read: <V extends keyof ReadVerbs>(verb: V, args: ReadVerbs[V][0]) =>
        verb === 'agent_by_name'
          ? (byName(args as { name: string }) as Promise<ReadVerbs[V][1]>)
          : store.read(verb, args),
    },
    stir({ agents_changed }) {
      if (!agents_changed) return;
      age++;
      known.clear();
    },
  };
};
