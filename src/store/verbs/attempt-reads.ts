/** Attempts as they are read: for a page, for the judge of facts, for the reaper, for a runner that must stop some. */
import type { Facts } from '../../contract/facts.ts';
import type { Decision } from '../../contract/verdict.ts';
import type { ReadVerb } from '../tx.ts';
import { agentFrom } from './agent-row.ts';
import { attemptFrom } from './attempt-row.ts';
import { credentialFrom } from './credentials.ts';
import { executionById, executionFrom } from './execution-row.ts';
import { cliSession } from './start-attempt.ts';

export const attempts: ReadVerb<'attempts'> = async (tx, { execution_id }) => {
  const rows = await tx.db
    .selectFrom('attempts')
    .selectAll()
    .where('execution_id', '=', execution_id)
    .orderBy('number')
    .execute();
  return rows.map(attemptFrom);
};

export const facts: ReadVerb<'facts'> = async (tx, { attempt_id }) => {
  const row = await tx.db
    .selectFrom('attempt_facts')
    .select('facts')
    .where('attempt_id', '=', attempt_id)
    .executeTakeFirst();
  return row ? (JSON.parse(row.facts) as Facts) : null;
};

export const attemptForFinish: ReadVerb<'attempt_for_finish'> = async (tx, { attempt_id }) => {
  const attempt = await tx.db.selectFrom('attempts').selectAll().where('id', '=', attempt_id).executeTakeFirst();
  const row = attempt && (await executionById(tx, attempt.execution_id));
  if (!attempt || !row) return null;
  const agent = await tx.db.selectFrom('agents').selectAll().where('id', '=', row.agent_id).executeTakeFirst();
  if (!agent) return null;
  const credential =
    attempt.credential_id === null
      ? null
      : ((await tx.db
          .selectFrom('credentials')
          .selectAll()
          .where('id', '=', attempt.credential_id)
          .executeTakeFirst()) ?? null);
  const earlier = await tx.db
    .selectFrom('attempts')
    .select('decision')
    .where('execution_id', '=', row.id)
    .where('number', '<', attempt.number)
    .orderBy('number')
    .execute();
  return {
    attempt: attemptFrom(attempt),
    execution: executionFrom(row),
    agent: agentFrom(agent),
    credential: credential && credentialFrom(credential),
    decided: earlier.flatMap((e) => (e.decision === null ? [] : [JSON.parse(e.decision) as Decision])),
    session_cost_before: (await cliSession(tx, row)).cost_before,
  };
};

export const expiredLeases: ReadVerb<'expired_leases'> = async (tx, { steady }) => {
  const rows = await tx.db
    .selectFrom('attempts')
    .select(['id', 'execution_id', 'host', 'pid', 'start_time', 'boot_id'])
    .where('ended_at', 'is', null)
    .where('lease_until', '<=', steady)
    .orderBy('lease_until')
    .execute();
  return rows.map((r) => ({
    attempt_id: r.id,
    execution_id: r.execution_id,
    host: r.host,
    proof:
      r.pid === null || r.start_time === null || r.boot_id === null
        ? null
        : { pid: r.pid, start_time: r.start_time, boot_id: r.boot_id },
  }));
};

export const attemptsToStop: ReadVerb<'attempts_to_stop'> = async (tx, { runner_id }) => {
  const rows = await tx.db
    .selectFrom('executions')
    .select('attempt_id')
    .where('runner_id', '=', runner_id)
    .where('cancel_requested_at', 'is not', null)
    .where('completed_at', 'is', null)
    .orderBy('id')
    .execute();
  return rows.flatMap((r) => (r.attempt_id === null ? [] : [{ attempt_id: r.attempt_id, reason: 'cancel' as const }]));
};

export const attemptOwner: ReadVerb<'attempt_owner'> = async (tx, { attempt_id, token }) =>
  (await tx.db
    .selectFrom('attempts')
    .select(['execution_id', 'runner_id'])
    .where('id', '=', attempt_id)
    .where('token', '=', token)
    .executeTakeFirst()) ?? null;
