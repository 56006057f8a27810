/**
 * All limits of a claim together, in the order of `waitReasons`: the first that binds is why a row waits, null = it may start
 * now. The same function admits a claim and explains a wait, so that the reason shown is the reason.
 */
import { limits, type WaitReason } from '../../contract/limits.ts';
import { type Lent, lend } from './lend.ts';
import { type RoomReason, roomAnywhere } from './room.ts';
import { heldByBudget } from './spending.ts';
import { weatherHolds } from './weather.ts';
import { type Candidate, type ClaimRunner, capOf, count, type World } from './world.ts';

export type Admitted = { binds: null; credential_id: string | null };
export type Bound = { binds: WaitReason };

/** Switches hold up root work only; nested work goes on, or a drain would never end (F4). */
const switchedOff = (w: World, c: Candidate): WaitReason | null => {
  if (c.nested) return null;
  if (w.paused) return 'fleet_paused';
  return w.agents.get(c.agent_id)?.stopped ? 'agent_stopped' : null;
};

const overLive = (w: World, c: Candidate): boolean =>
  !c.nested && count(w.live.agent, c.agent_id) >= limits.liveBoundFactor * capOf(w, c.agent_id);

const agentFull = (w: World, id: string): boolean =>
  count(w.running.agent, id) + count(w.kept.agent, id) >= capOf(w, id);

const isHost = (r: RoomReason | null): r is Exclude<RoomReason, 'runner_room'> => r !== null && r !== 'runner_room';

export const admits = (w: World, c: Candidate, runners: readonly ClaimRunner[]): Admitted | Bound => {
  const off = switchedOff(w, c);
  if (off) return { binds: off };
  if (weatherHolds(w, c)) return { binds: 'provider_paused' };
  // Nested work too: an agent without a budget must not spend that of those it calls. Its wait is bounded as every wait is.
  if (heldByBudget(w, c.agent_id)) return { binds: 'budget_spent' };
  const agent = w.agents.get(c.agent_id);
  const lent: Lent = agent ? lend(w, agent, c.wanted) : { credential_id: null };
  if (lent === 'credentials_exhausted') return { binds: lent };
  const room = roomAnywhere(w, c, runners);
  if (isHost(room)) return { binds: room };
  if (overLive(w, c)) return { binds: 'live_bound' };
  if (agentFull(w, c.agent_id)) return { binds: 'agent_cap' };
  if (lent === 'credential_cap') return { binds: lent };
  if (w.running.fleet >= w.fleetCap) return { binds: 'fleet_cap' };
  if (room) return { binds: room };
  return { binds: null, credential_id: lent.credential_id };
};
