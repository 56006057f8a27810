/**
 * Leases that ran out. Never begun: queued again for free, because no process was ever started. Begun: `silent`, and it keeps its
 * slots, until its death is proven (same host: another boot, or no such process) or the grace is over; then `runner_lost`. Each
 * row alone: one that cannot be healed stops no other (drill 35).
 */
import { sql } from 'kysely';
import { causes } from '../../contract/causes.ts';
import { itemLimits } from '../../contract/operator.ts';
import { derivedId } from '../../kernel/ids.ts';
import { statement } from '../statement.ts';
import type { WriteVerbs } from '../store.ts';
import type { Tx, WriteVerb } from '../tx.ts';
import { runnerLostKey } from './close-items.ts';
import { end, sayError } from './end.ts';
import { tell } from './events.ts';
import { mustHave, type Row } from './execution-row.ts';
import { raise } from './raise-item.ts';
import { requeue } from './requeue.ts';
import { sessionLost } from './session-used.ts';
import { takeResumes } from './take-resumes.ts';

interface Expired {
  id: string;
  execution_id: string;
  token: string;
  begun_at: number | null;
  lease_until: number;
  silent_at: number | null;
  host: string | null;
  pid: number | null;
  boot_id: string | null;
}
const expired = statement<{ steady: number; after: number; after_id: string; most: number }, Expired>((db, s) =>
  db
    .selectFrom('attempts')
    .select(['id', 'execution_id', 'token', 'begun_at', 'lease_until', 'silent_at', 'host', 'pid', 'boot_id'])
    .where('ended_at', 'is', null)
    .where('lease_until', '<=', s.steady)
    .where(sql<boolean>`(lease_until, id) > (${s.after}, ${s.after_id})`)
    .orderBy('lease_until')
    .orderBy('id')
    .limit(s.most),
);
const endAttempt = statement<{ id: string; now: number }, unknown>((db, s) =>
  db.updateTable('attempts').set({ ended_at: s.now }).where('id', '=', s.id),
);

type Args = WriteVerbs['reap'][0];
type Found = 'silent' | 'requeued' | 'lost' | 'kept';

export const reap: WriteVerb<'reap'> = async (tx, args) => {
  const found: Record<Found, string[]> = { silent: [], requeued: [], lost: [], kept: [] };
  let from = { lease_until: Number.MIN_SAFE_INTEGER, id: '' };
  for (let looked = 0; looked < args.max; ) {
    const most = Math.min(100, args.max - looked);
    const { rows } = await expired(tx, { steady: tx.at.steady, after: from.lease_until, after_id: from.id, most });
    for (const a of rows) {
      const done = await tx.alone(() => reapOne(tx, a, args));
      if (done.ok) found[done.value].push(a.execution_id);
      else tx.odd(`attempt ${a.id} of execution ${a.execution_id} cannot be reaped`, done.error);
    }
    looked += rows.length;
    if (rows.length < most) break;
    from = rows.at(-1)!;
  }
  await takeResumes(tx);
  return { silent: found.silent, requeued: found.requeued, lost: found.lost };
};

/** Only with a pid that was told: an attempt that has begun and told none may be about to spawn. */
const provenDead = (a: Expired, host: Args['same_host']): boolean =>
  host !== null && a.host === host.host && a.pid !== null && (a.boot_id !== host.boot_id || !host.alive.includes(a.id));

const reapOne = async (tx: Tx, a: Expired, args: Args): Promise<Found> => {
  const row = await mustHave(tx, a.execution_id);
  if (row.token !== a.token) {
    // The row went on without this attempt: only the attempt is left open.
    await endAttempt(tx, { id: a.id, now: tx.at.now });
    return 'kept';
  }
  if (a.begun_at === null) {
    await requeue(tx, row, { afterMs: 0, why: 'its runner did not begin it' });
    return 'requeued';
  }
  if (provenDead(a, args.same_host) || a.lease_until + args.grace_ms <= tx.at.steady) {
    const cancelled = row.cancel_requested_at !== null;
    if (!cancelled) await sayError(tx, row.id, `${causes.runner_lost.title}: ${why(tx, a, args)}.`);
    await end(tx, row, {
      status: cancelled ? 'cancelled' : 'failed',
      cause: cancelled ? 'cancelled' : 'runner_lost',
      data: { attempt: row.attempt },
    });
    await sessionLost(tx, row);
    await raiseLost(tx, row, a, args);
    return 'lost';
  }
  if (a.silent_at !== null) return 'kept';
  await tx.db.updateTable('attempts').set({ silent_at: tx.at.steady }).where('id', '=', a.id).execute();
  await tx.db.updateTable('executions').set({ silent: 1 }).where('id', '=', row.id).execute();
  await tell(tx, { type: 'execution.silent', execution_id: row.id, agent_name: row.agent_name });
  return 'silent';
};

/** One item per runner, however many runs it took with it. */
const raiseLost = async (tx: Tx, row: Row, a: Expired, args: Args): Promise<void> => {
  const runner = await tx.db
    .selectFrom('runners')
    .select(['name', 'host'])
    .where('id', '=', row.runner_id!)
    .executeTakeFirst();
  const item = {
    id: derivedId(tx.at.now, a.id),
    kind: 'alert' as const,
    dedup_key: runnerLostKey(row.runner_id!),
    priority: 'high' as const,
    title: `Runner ${runner?.name ?? row.runner_id} on ${runner?.host ?? 'an unknown host'} was lost with what ran on it`,
    evidence: [causes.runner_lost.advice, `${row.agent_name}, execution ${row.id}: ${why(tx, a, args)}.`],
    quiet_ms: itemLimits.eventQuietMs,
    fleet: true,
    joins: true,
  };
  await raise(tx, item, { agent_name: row.agent_name, execution_id: row.id });
};

const why = (tx: Tx, a: Expired, args: Args): string =>
  provenDead(a, args.same_host)
    ? a.boot_id === args.same_host!.boot_id
      ? `process ${a.pid} is gone and told no ending`
      : 'its host was started anew'
    : `nothing was heard of it for ${Math.round((tx.at.steady - a.lease_until + args.lease_ms) / 1000)} s`;

/** A starting server gives every lease a whole term anew: while it was down, nobody could renew (R23). */
export const adoptLeases: WriteVerb<'adopt_leases'> = async (tx, { lease_ms }) => {
  const done = await tx.db
    .updateTable('attempts')
    .set({ lease_until: tx.at.steady + lease_ms })
    .where('ended_at', 'is', null)
    // Every lease: makes it a range of the index.
    .where('lease_until', '>', sql.lit(0))
    .executeTakeFirst();
  return { adopted: Number(done.numUpdatedRows) };
};
