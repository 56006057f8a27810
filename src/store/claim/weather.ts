/**
 * What holds up the runs of a provider at the claim: a person's pause (root work only, as the fleet's) or an incident (all work:
 * nothing is spawned to die). One gate per provider, shared by its agents, so that a probe taken in a transaction holds up the
 * next head of the same transaction.
 */
import type { Candidate, World } from './world.ts';

export interface ProviderGate {
  provider: string;
  paused: boolean;
  incident: {
    id: string;
    state: 'open' | 'reopening';
    /** Steady ms of the next probe, or of the next start while reopening. */
    next_at: number;
    /** A probe is under way. */
    probing: boolean;
  } | null;
}

export const weatherHolds = (w: World, c: Candidate): boolean => {
  const gate = w.gates.get(c.agent_id);
  if (gate === undefined) return false;
  if (gate.paused && !c.nested) return true;
  return gate.incident !== null && (gate.incident.probing || gate.incident.next_at > w.steady);
};

/** Steady ms at which time alone lets a run of this agent go; null = something else must happen first. */
export const weatherClears = (w: World, agent_id: string): number | null => {
  const gate = w.gates.get(agent_id);
  if (!gate?.incident || gate.paused || gate.incident.probing) return null;
  return gate.incident.next_at > w.steady ? gate.incident.next_at : null;
};
