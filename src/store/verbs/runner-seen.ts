/** A runner was heard of: its room as it told it, and when. Written at most every few seconds unless the room changed. */
import type { RunnerRoom } from '../../contract/runner-protocol.ts';
import type { RunnerAbout } from '../rows.ts';
import { statement } from '../statement.ts';
import type { Tx } from '../tx.ts';

/** Well under the lease, after which a runner counts as away. */
const seenMs = 5_000;

const find = statement<{ id: string }, RunnerAbout & { room: string | null; seen_steady: number | null }>((db, s) =>
  db
    .selectFrom('runners')
    .select(['room', 'seen_steady', 'host', 'boot_id', 'version', 'isolation', 'cgroup'])
    .where('id', '=', s.id)
    .$castTo<RunnerAbout & { room: string | null; seen_steady: number | null }>(),
);
const touch = statement<{ id: string; room: string; slots: number | null; now: number; steady: number }, unknown>(
  (db, s) =>
    db
      .updateTable('runners')
      .set({ room: s.room, slots: s.slots, last_seen: s.now, seen_steady: s.steady })
      .where('id', '=', s.id),
);
const describe = statement<RunnerAbout & { id: string }, unknown>((db, s) =>
  db
    .updateTable('runners')
    .set({ host: s.host, boot_id: s.boot_id, version: s.version, isolation: s.isolation, cgroup: s.cgroup })
    .where('id', '=', s.id),
);

const aboutKeys = ['host', 'boot_id', 'version', 'isolation', 'cgroup'] as const;

/** `about` comes with claims alone; null = as known. Returns the runner's host. */
export const runnerSeen = async (
  tx: Tx,
  id: string,
  room: RunnerRoom,
  about: RunnerAbout | null,
): Promise<string | null> => {
  const known = (await find(tx, { id })).rows[0];
  const text = JSON.stringify(room);
  const { now, steady } = tx.at;
  if (!known) {
    await tx.db
      .insertInto('runners')
      .values({
        id,
        name: id,
        room: text,
        slots: room.slots,
        last_seen: now,
        seen_steady: steady,
        created_at: now,
        ...about,
      })
      .execute();
    return about?.host ?? null;
  }
  if (about !== null && aboutKeys.some((k) => known[k] !== about[k])) await describe(tx, { id, ...about });
  if (known.room !== text || known.seen_steady === null || steady - known.seen_steady >= seenMs)
    await touch(tx, { id, room: text, slots: room.slots, now, steady });
  return about?.host ?? known.host;
};
