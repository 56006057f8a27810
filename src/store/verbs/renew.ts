/**
 * Leases: one request for all attempts of a runner, waiting ones too, with proof of life (R22). An expired lease that is renewed in
 * time lives on: expiry fences nothing, only the reaper's compare-and-set does. The answer is how a runner learns of a cancel.
 */
import { statement } from '../statement.ts';
import type { WriteVerbs } from '../store.ts';
import type { Tx, WriteVerb } from '../tx.ts';
import { tell } from './events.ts';
import { runnerSeen } from './runner-seen.ts';
import { takeResumes } from './take-resumes.ts';
import { probeSpoke } from './weather.ts';

type Item = WriteVerbs['renew'][0]['attempts'][number];
type Answer = WriteVerbs['renew'][1][number];

interface Known {
  token: string;
  ended_at: number | null;
  execution_id: string;
  agent_name: string;
  current: string | null;
  status: string;
  silent: number;
  started_at: number | null;
  waiting_since: number | null;
  called_ms: number;
  cancel_requested_at: number | null;
}
const find = statement<{ id: string }, Known>((db, s) =>
  db
    .selectFrom('attempts')
    .innerJoin('executions', 'executions.id', 'attempts.execution_id')
    .select([
      'attempts.token',
      'attempts.ended_at',
      'attempts.execution_id',
      'executions.agent_name',
      'executions.token as current',
      'executions.status',
      'executions.silent',
      'executions.started_at',
      'executions.waiting_since',
      'executions.called_ms',
      'executions.cancel_requested_at',
    ])
    .where('attempts.id', '=', s.id),
);
const extend = statement<
  {
    id: string;
    lease_until: number;
    pid: number | null;
    start_time: number | null;
    boot_id: string | null;
    started_at: number | null;
    cpu_ms: number | null;
    rss_bytes: number | null;
  },
  unknown
>((db, s) =>
  db
    .updateTable('attempts')
    .set((eb) => ({
      lease_until: s.lease_until,
      silent_at: null,
      pid: eb.fn.coalesce(eb.val(s.pid), 'pid'),
      start_time: eb.fn.coalesce(eb.val(s.start_time), 'start_time'),
      boot_id: eb.fn.coalesce(eb.val(s.boot_id), 'boot_id'),
      started_at: eb.fn.coalesce(eb.val(s.started_at), 'started_at'),
      cpu_ms: s.cpu_ms,
      rss_bytes: s.rss_bytes,
    }))
    .where('id', '=', s.id),
);

export const renew: WriteVerb<'renew'> = async (tx, args) => {
  await runnerSeen(tx, args.runner_id, args.room, null);
  const answers: Answer[] = [];
  for (const item of args.attempts) {
    const done = await tx.alone(() => renewOne(tx, item, args.lease_ms));
    if (done.ok) answers.push(done.value);
    else {
      tx.odd(`attempt ${item.attempt} cannot be renewed`, done.error);
      // Its lease runs on: a broken row must not make a runner kill a process.
      answers.push({ attempt: item.attempt, state: 'ok' });
    }
  }
  await takeResumes(tx);
  return answers;
};

const renewOne = async (tx: Tx, item: Item, lease_ms: number): Promise<Answer> => {
  const { attempt } = item;
  const a = (await find(tx, { id: attempt })).rows[0];
  if (!a || a.token !== item.token || a.current !== item.token || a.ended_at !== null)
    return { attempt, state: 'lost' };
  await extend(tx, {
    id: attempt,
    lease_until: tx.at.steady + lease_ms,
    pid: item.proof?.pid ?? null,
    start_time: item.proof?.start_time ?? null,
    boot_id: item.proof?.boot_id ?? null,
    started_at: item.started_at,
    cpu_ms: item.cpu_ms,
    rss_bytes: item.rss_bytes,
  });
  if ((item.started_at !== null && a.started_at === null) || a.silent === 1) {
    await tx.db
      .updateTable('executions')
      .set({ started_at: a.started_at ?? item.started_at, silent: 0 })
      .where('id', '=', a.execution_id)
      .execute();
    if (a.started_at === null && item.started_at !== null)
      await tell(tx, { type: 'execution.started', execution_id: a.execution_id, agent_name: a.agent_name });
  }
  if (item.model_spoke === true) await probeSpoke(tx, attempt);
  if (a.cancel_requested_at !== null) return { attempt, state: 'stop', reason: 'cancel' };
  const called_ms = Math.max(0, a.called_ms);
  if (a.status === 'waiting') {
    const since = a.waiting_since ?? tx.at.now;
    return { attempt, state: 'waiting', since, called_ms: called_ms + Math.max(0, tx.at.now - since) };
  }
  return { attempt, state: 'ok', called_ms };
};
