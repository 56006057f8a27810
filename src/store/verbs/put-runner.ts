/** Enrols a runner, or keeps what it told of itself with its last poll. An event when it is new or had been away. */
import { limits } from '../../contract/limits.ts';
import type { WriteVerb } from '../tx.ts';
import { tell } from './events.ts';
import { runnerFrom } from './runners.ts';

export const putRunner: WriteVerb<'put_runner'> = async (tx, { runner }) => {
  const known = await tx.db.selectFrom('runners').selectAll().where('id', '=', runner.id).executeTakeFirst();
  const seen = runner.last_seen !== null;
  const columns = {
    name: runner.name,
    host: runner.host,
    boot_id: runner.boot_id,
    version: runner.version,
    isolation: runner.isolation,
    cgroup: runner.cgroup,
    slots: runner.slots,
    labels: JSON.stringify(runner.labels),
    room: runner.room === null ? null : JSON.stringify(runner.room),
    last_seen: runner.last_seen,
    seen_steady: seen ? tx.at.steady : (known?.seen_steady ?? null),
  };
  if (known) await tx.db.updateTable('runners').set(columns).where('id', '=', runner.id).execute();
  else
    await tx.db
      .insertInto('runners')
      .values({ id: runner.id, created_at: runner.created_at, ...columns })
      .execute();
  const away = known?.seen_steady == null || tx.at.steady - known.seen_steady > limits.leaseMs;
  if (seen && away) {
    await tell(tx, { type: 'runner.seen', data: { runner_id: runner.id, name: runner.name, host: runner.host } });
    tx.stirred.claimable = true;
  }
  const row = await tx.db.selectFrom('runners').selectAll().where('id', '=', runner.id).executeTakeFirstOrThrow();
  return runnerFrom(row);
};
