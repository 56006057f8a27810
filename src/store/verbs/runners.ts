/** Runners as rows: who may claim, from which host, and when it was last here. */
import type { Selectable } from 'kysely';
import type { RunnerRow } from '../rows.ts';
import type { Runners } from '../schema.ts';
import type { ReadVerb, WriteVerb } from '../tx.ts';

export const runnerFrom = (r: Selectable<Runners>): RunnerRow => ({
  id: r.id,
  name: r.name,
  host: r.host,
  boot_id: r.boot_id,
  version: r.version,
  isolation: r.isolation,
  cgroup: r.cgroup,
  slots: r.slots,
  labels: JSON.parse(r.labels) as string[],
  room: r.room === null ? null : (JSON.parse(r.room) as RunnerRow['room']),
  last_seen: r.last_seen,
  created_at: r.created_at,
});

/** What it runs now goes on by its leases and ends as the reaper finds it; it can claim nothing more. */
export const deleteRunner: WriteVerb<'delete_runner'> = async (tx, { id }) => {
  await tx.db.deleteFrom('api_keys').where('id', '=', id).where('scope', '=', 'runner').execute();
  const { numDeletedRows } = await tx.db.deleteFrom('runners').where('id', '=', id).executeTakeFirstOrThrow();
  return { deleted: Number(numDeletedRows) > 0 };
};

export const runners: ReadVerb<'runners'> = async (tx) =>
  (await tx.db.selectFrom('runners').selectAll().orderBy('id').execute()).map(runnerFrom);
