/**
 * Pending resumes: waiting rows with no open call (F5). They ask for counts only, never for states or room, and get back agent,
 * fleet and credential together. One that cannot go yet counts as using its agent and credential for all behind it (F14).
 */
import { capOf, count, keep, type World } from './world.ts';

export interface Pending {
  id: string;
  agent_id: string;
  agent_name: string;
  credential_id: string | null;
  class: 'interactive' | 'batch';
}

const fits = (w: World, p: Pending): boolean => {
  if (w.running.fleet >= w.fleetCap) return false;
  if (count(w.running.agent, p.agent_id) + count(w.kept.agent, p.agent_id) >= capOf(w, p.agent_id)) return false;
  if (p.credential_id === null) return true;
  const cap = w.credentials.find((c) => c.id === p.credential_id)?.max_parallel ?? null;
  return cap === null || count(w.running.credential, p.credential_id) + count(w.kept.credential, p.credential_id) < cap;
};

/** The oldest that fits. Sets what the others keep: call it anew after each change. `pending` is oldest first. */
export const firstResume = (w: World, pending: readonly Pending[]): Pending | null => {
  w.kept.agent.clear();
  w.kept.credential.clear();
  let first: Pending | null = null;
  for (const p of pending)
    if (!first && fits(w, p)) first = p;
    else keep(w, p.agent_id, p.credential_id);
  return first;
};
