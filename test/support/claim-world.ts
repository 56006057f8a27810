/** A world for tests of the claim's policy in which no limit binds until the test sets it. */
import type { ClaimAgent, ClaimCredential, ClaimRunner, World } from '../../src/store/claim/world.ts';

const GB = 1024 ** 3;

export const claimAgent = (id: string, over: Partial<ClaimAgent> = {}): ClaimAgent => ({
  id,
  adapter: 'command',
  cap: 100,
  stopped: false,
  memory_bytes: null,
  pool: null,
  credential_id: null,
  owner_id: 'owner',
  ...over,
});

export const claimCredential = (id: string, over: Partial<ClaimCredential> = {}): ClaimCredential => ({
  id,
  name: id,
  kind: 'claude_oauth',
  max_parallel: null,
  pool: null,
  state: 'ok',
  until: null,
  last_used_at: null,
  owner_id: null,
  agent_id: null,
  state_at: null,
  worked_at: null,
  pace: null,
  used: null,
  ...over,
});

export const claimRunner = (id: string, over: Partial<ClaimRunner> = {}): ClaimRunner => ({
  id,
  slots: 1_000,
  memory_total: 64 * GB,
  memory_available: 60 * GB,
  disk_available: 100 * GB,
  ...over,
});

export const claimWorld = (agents: ClaimAgent[], over: Partial<World> = {}): World => ({
  now: 1_000_000,
  steady: 1_000_000,
  fleetCap: 100,
  maxDepth: 8,
  memoryFloor: 0.1,
  diskFloorBytes: 2 * GB,
  paused: false,
  agents: new Map(agents.map((a) => [a.id, a])),
  credentials: [],
  spill: [],
  runners: [claimRunner('r')],
  running: { fleet: 0, interactive: 0, agent: new Map(), credential: new Map() },
  live: { agent: new Map(), runner: new Map(), memory: new Map() },
  kept: { agent: new Map(), credential: new Map() },
  gates: new Map(),
  spending: { fleet: [], gates: new Map(), expected: new Map() },
  ...over,
});
