/**
 * What the claim's policy looks at: the present values of all limits and their use, counted from rows in the same transaction.
 * Pure: loaded by `verbs/claim-world.ts`, changed only by `take` as the claims of one transaction are chosen.
 */
import type { AdapterName } from '../../contract/agent.ts';
import type { CredentialKind, CredentialState } from '../../contract/credential.ts';
import type { ExecutionClass } from '../../contract/execution.ts';
import { limits } from '../../contract/limits.ts';
import type { SpendingGate } from './spending.ts';
import type { ProviderGate } from './weather.ts';

export interface ClaimAgent {
  id: string;
  adapter: AdapterName;
  /** Running executions at most. */
  cap: number;
  stopped: boolean;
  memory_bytes: number | null;
  pool: string | null;
  credential_id: string | null;
  owner_id: string;
}
export interface ClaimCredential {
  id: string;
  name: string;
  kind: CredentialKind;
  max_parallel: number | null;
  pool: string | null;
  state: CredentialState;
  until: number | null;
  last_used_at: number | null;
  owner_id: string | null;
  agent_id: string | null;
  state_at: number | null;
  worked_at: number | null;
  pace: number | null;
  /** The fullest window of its plan, 0 to 1; null = not told, or its reset has passed. */
  used: number | null;
}
/** A runner that was seen lately, with the room it told of. */
export interface ClaimRunner {
  id: string;
  /** Null: not set by hand, so a raised fleet limit finds its places at once. */
  slots: number | null;
  memory_total: number;
  memory_available: number;
  disk_available: number;
}

export interface World {
  /** Wall clock ms: for the resets of credentials. */
  now: number;
  /** For the times of incidents. */
  steady: number;
  fleetCap: number;
  maxDepth: number;
  memoryFloor: number;
  diskFloorBytes: number;
  paused: boolean;
  agents: ReadonlyMap<string, ClaimAgent>;
  credentials: readonly ClaimCredential[];
  /** Pools (`''` = without a tag) whose work may cross from a subscription to an API key. */
  spill: readonly string[];
  runners: readonly ClaimRunner[];
  running: { fleet: number; interactive: number; agent: Map<string, number>; credential: Map<string, number> };
  /** Running and waiting: a waiting process holds its place and its memory. */
  live: { agent: Map<string, number>; runner: Map<string, number>; memory: Map<string, number> };
  /** What pending resumes that cannot go yet count as using, for everybody behind them (F14). */
  kept: { agent: Map<string, number>; credential: Map<string, number> };
  /** By agent: what holds its provider up. Empty in good weather. */
  gates: ReadonlyMap<string, ProviderGate>;
  /** Budgets over an agent (the fleet's among them), over those without one of their own, and what a run may cost. */
  spending: {
    fleet: readonly SpendingGate[];
    gates: ReadonlyMap<string, readonly SpendingGate[]>;
    expected: ReadonlyMap<string, number>;
  };
}

/** A queued row that may be next in its lane. */
export interface Candidate {
  id: string;
  agent_id: string;
  depth: number;
  /** Somebody waits for it now (F3): states and the live bound do not hold it up. */
  nested: boolean;
  /** The credential to go on with, while it is good; null = any. */
  wanted: string | null;
}

/** One running or waiting row, or many alike. */
export interface Held {
  agent_id: string;
  credential_id: string | null;
  runner_id: string | null;
  class: ExecutionClass;
  n: number;
}

export const count = (m: ReadonlyMap<string, number>, key: string): number => m.get(key) ?? 0;
const add = (m: Map<string, number>, key: string, n: number) => void m.set(key, count(m, key) + n);

export const addRunning = (w: World, h: Held): void => {
  w.running.fleet += h.n;
  if (h.class === 'interactive') w.running.interactive += h.n;
  add(w.running.agent, h.agent_id, h.n);
  if (h.credential_id !== null) add(w.running.credential, h.credential_id, h.n);
};

export const addLive = (w: World, h: Held): void => {
  add(w.live.agent, h.agent_id, h.n);
  if (h.runner_id === null) return;
  add(w.live.runner, h.runner_id, h.n);
  add(w.live.memory, h.runner_id, h.n * (w.agents.get(h.agent_id)?.memory_bytes ?? 0));
};

export const keep = (w: World, agent_id: string, credential_id: string | null): void => {
  add(w.kept.agent, agent_id, 1);
  if (credential_id !== null) add(w.kept.credential, credential_id, 1);
};

export const capOf = (w: World, agent_id: string): number =>
  w.agents.get(agent_id)?.cap ?? limits.maxParallelTasks.default;
