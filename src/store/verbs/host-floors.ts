/**
 * Hosts below their floors of memory and disk: claims stop there by themselves (claim/room.ts); here a person is told, one item per
 * host, floor and episode, which closes when the host is above the floor with some to spare, so that a value that swings around it
 * is one episode.
 */

import { limits } from '../../contract/limits.ts';
import type { RunnerRoom } from '../../contract/runner-protocol.ts';
import { derivedId } from '../../kernel/ids.ts';
import { statement } from '../statement.ts';
import type { ClaimLimits } from '../store.ts';
import type { Tx } from '../tx.ts';
import { closeItem } from './close-items.ts';
import { liveItems } from './operator-row.ts';
import { raise } from './raise-item.ts';

const seen = statement<{ since: number }, { id: string; host: string | null; room: string | null }>((db, s) =>
  db.selectFrom('runners').select(['id', 'host', 'room']).where('seen_steady', '>=', s.since),
);

/** Above the floor by this share of it: over. */
const spare = 1.1;
const GiB = 1024 ** 3;
const gib = (bytes: number): string => `${(bytes / GiB).toFixed(1)} GiB`;

interface Floor {
  what: 'memory' | 'disk';
  left: number;
  floor: number;
  advice: string;
}
const floorsOf = (room: RunnerRoom, l: ClaimLimits): Floor[] => [
  {
    what: 'memory',
    left: room.memory_available,
    floor: l.memory_floor * room.memory_total,
    advice:
      'Free memory on the host, lower the fleet limit (PUT /api/fleet/limits), give agents a memory limit, or lower DROVER_MEMORY_FLOOR_PERCENT.',
  },
  {
    what: 'disk',
    left: room.disk_available,
    floor: l.disk_floor_bytes,
    advice:
      'Free disk on the host: old worktrees and logs under DROVER_HOME are the first to look at. The floor is DROVER_DISK_FLOOR_MIB.',
  },
];

export const watchFloors = async (tx: Tx, l: ClaimLimits): Promise<void> => {
  const runners = (await seen(tx, { since: tx.at.steady - limits.leaseMs })).rows;
  const low = new Map<string, { host: string; floor: Floor }>();
  const fine = new Set<string>();
  for (const r of runners) {
    if (r.room === null) continue;
    for (const floor of floorsOf(JSON.parse(r.room) as RunnerRoom, l)) {
      const key = `host_${floor.what}:${r.id}`;
      if (floor.left < floor.floor) low.set(key, { host: r.host ?? r.id, floor });
      else if (floor.left >= spare * floor.floor) fine.add(key);
    }
  }
  const live = (await liveItems(tx, '')).filter((i) => i.dedup_key.startsWith('host_'));
  for (const item of live) if (fine.has(item.dedup_key)) await closeItem(tx, item, 'the host has room again');
  for (const [key, { host, floor }] of low) {
    if (live.some((i) => i.dedup_key === key)) continue;
    await raise(
      tx,
      {
        id: derivedId(tx.at.now, key),
        kind: 'alert',
        dedup_key: key,
        priority: 'high',
        title: `${host}: too little ${floor.what} left, so nothing new starts there`,
        evidence: [`${gib(floor.left)} left, and the floor is ${gib(floor.floor)}. What runs goes on.`, floor.advice],
        fleet: true,
      },
      { agent_name: null, execution_id: null },
    );
  }
};
