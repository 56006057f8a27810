/**
 * A runner's room, held through waiting and therefore layered (F2): a spawn at depth d leaves a place for each deeper level, so
 * that whoever waits at depth d can always be helped by d + 1. Memory by the same rule in bytes. A resume never asks for room.
 */
import type { WaitReason } from '../../contract/limits.ts';
import { type Candidate, type ClaimRunner, count, type World } from './world.ts';

export type RoomReason = Extract<WaitReason, 'no_runner' | 'memory' | 'disk' | 'runner_room'>;

const levelsBelow = (w: World, c: Candidate): number => Math.max(0, w.maxDepth - c.depth);

/**
 * The floors are measured and do not come back by progress of what waits, so they hold up root work only. The sum of the
 * agents' limits leaves one largest limit for each deeper level; a host too small for that over all levels would start
 * nothing at all, so there root work counts what lives alone, and nested work is not held up (a limit is not a use).
 */
const memoryBinds = (w: World, c: Candidate, r: ClaimRunner): boolean => {
  const need = w.agents.get(c.agent_id)?.memory_bytes ?? 0;
  const floor = w.memoryFloor * r.memory_total;
  if (!c.nested && r.memory_available - need < floor) return true;
  if (need === 0) return false;
  const usable = r.memory_total - floor;
  const largest = Math.max(0, ...[...w.agents.values()].map((a) => a.memory_bytes ?? 0));
  const layered = (w.maxDepth + 1) * largest <= usable;
  if (!layered && c.nested) return false;
  const held = count(w.live.memory, r.id);
  // Alone on the host it may always start: its limit may be larger than the host.
  if (count(w.live.runner, r.id) === 0) return false;
  return held + need + (layered ? levelsBelow(w, c) * largest : 0) > usable;
};

export const roomReason = (w: World, c: Candidate, r: ClaimRunner): RoomReason | null => {
  if (memoryBinds(w, c, r)) return 'memory';
  if (!c.nested && r.disk_available < w.diskFloorBytes) return 'disk';
  if (count(w.live.runner, r.id) + levelsBelow(w, c) >= (r.slots ?? w.fleetCap + w.maxDepth)) return 'runner_room';
  return null;
};

const nearest: readonly RoomReason[] = ['runner_room', 'disk', 'memory'];

/** Over all runners: null when one has room, else what the one that is nearest to having room lacks. */
export const roomAnywhere = (w: World, c: Candidate, runners: readonly ClaimRunner[]): RoomReason | null => {
  if (runners.length === 0) return 'no_runner';
  const lacking = runners.map((r) => roomReason(w, c, r));
  return lacking.includes(null) ? null : nearest.find((n) => lacking.includes(n))!;
};
