/**
 * Who is next (R10): resumes, then children of waiting parents by age, then the rest; after four nested claims in a row the
 * next slot goes to a waiting root, or a chain that calls in a loop would starve it (F15). Among the rest the lane served
 * longest ago goes first, so that with A agents waiting a head is claimed after at most A - 1 others; while fewer than a
 * quarter of the fleet's slots run interactive work, that class goes first.
 */
import { limits } from '../../contract/limits.ts';
import { type Admitted, admits, type Bound } from './binding.ts';
import { firstResume, type Pending } from './resumes.ts';
import type { Candidate, ClaimRunner, World } from './world.ts';

/** Head of a lane. */
export interface Head extends Candidate {
  lane: 'interactive' | 'batch' | 'nested';
  /** What it counts as: batch that has waited long counts as interactive. */
  as: 'interactive' | 'batch';
}

export interface Queue {
  pending: readonly Pending[];
  /** Oldest first. */
  children: readonly Head[];
  roots: readonly Head[];
  /** When (as a rising number) an agent was last served in a class. */
  served: ReadonlyMap<string, number>;
  /** Nested claims, resumes among them, since a root was claimed. */
  nestedInRow: number;
}

type Next = { kind: 'resume'; pending: Pending } | { kind: 'child' | 'root'; head: Head; credential_id: string | null };

export const servedKey = (agent_id: string, as: Head['as']): string => `${as} ${agent_id}`;

export const agedClass = (lane: 'interactive' | 'batch', waitedMs: number): Head['as'] =>
  lane === 'batch' && waitedMs >= limits.batchAgesMs ? 'interactive' : lane;

/** Slots offered to interactive work first: a quarter, at least one, at most all but one. */
export const interactiveShare = (fleetCap: number): number =>
  Math.min(fleetCap - 1, Math.max(1, Math.floor(fleetCap / 4)));

export const byTurn = (w: World, q: Queue): Head[] => {
  const share = w.running.interactive < interactiveShare(w.fleetCap);
  const rank = (h: Head) => (share && h.as === 'batch' ? 1 : 0);
  const served = (h: Head) => q.served.get(servedKey(h.agent_id, h.as)) ?? 0;
  return [...q.roots].sort((a, b) => rank(a) - rank(b) || served(a) - served(b) || (a.id < b.id ? -1 : 1));
};

const firstOf = (
  w: World,
  heads: readonly Head[],
  runners: readonly ClaimRunner[],
  kind: 'child' | 'root',
): Next | null => {
  for (const head of heads) {
    const a: Admitted | Bound = admits(w, head, runners);
    if (a.binds === null) return { kind, head, credential_id: a.credential_id };
  }
  return null;
};

export const rootIsDue = (q: Queue): boolean => q.nestedInRow >= limits.nestedBurst;

/** The next claim for this runner; `runner` null asks for resumes alone, which no runner needs to pull. */
export const next = (w: World, q: Queue, runner: ClaimRunner | null): Next | null => {
  // First, because it also sets what pending resumes keep from the others.
  const resume = firstResume(w, q.pending);
  if (runner === null) return resume && { kind: 'resume', pending: resume };
  if (rootIsDue(q)) {
    const root = firstOf(w, byTurn(w, q), [runner], 'root');
    if (root) return root;
  }
  if (resume) return { kind: 'resume', pending: resume };
  return firstOf(w, q.children, [runner], 'child') ?? firstOf(w, byTurn(w, q), [runner], 'root');
};

/** Would a root take the next slot on some runner? Then a resume leaves it to that root. */
export const rootWouldGo = (w: World, q: Queue): boolean =>
  w.runners.some((r) => firstOf(w, byTurn(w, q), [r], 'root') !== null);
