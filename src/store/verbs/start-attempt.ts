/**
 * Writes one claim: the row becomes running, a new attempt with its own token, and everything the runner needs is read in the
 * same transaction. Compare-and-set on queued: a row is claimed once.
 */
import { sql } from 'kysely';
import type { CredentialRow } from '../../contract/credential.ts';
import type { RunOptions } from '../../contract/execution.ts';
import type { Facts } from '../../contract/facts.ts';
import type { Credentials, Sessions } from '../schema.ts';
import { insertInto, lit, statement } from '../statement.ts';
import type { ClaimRow } from '../store.ts';
import type { ReadTx, Tx } from '../tx.ts';
import { agentFrom } from './agent-row.ts';
import { credentialFrom } from './credentials.ts';
import { tell } from './events.ts';
import { executionFrom, mustHave, type Row } from './execution-row.ts';

interface NewAttempt {
  execution_id: string;
  runner: { id: string; host: string | null };
  credential_id: string | null;
  attempt_id: string;
  token: string;
  lease_ms: number;
}

interface Taken {
  id: string;
  token: string;
  attempt_id: string;
  attempt: number;
  runner_id: string;
  credential_id: string | null;
  cli_session_id: string | null;
  waited_ms: number;
}
const take = statement<Taken, unknown>((db, s) =>
  db
    .updateTable('executions')
    .set({
      status: lit.running,
      lane: sql.lit(null),
      expires_at: sql.lit(null),
      token: s.token,
      attempt_id: s.attempt_id,
      attempt: s.attempt,
      runner_id: s.runner_id,
      credential_id: s.credential_id,
      cli_session_id: s.cli_session_id,
      waited_ms: s.waited_ms,
      queued_ms: s.waited_ms,
      called_ms: lit.zero,
    })
    .where('id', '=', s.id)
    .where('status', '=', lit.queued),
);
const insertAttempt = insertInto('attempts', [
  'id',
  'execution_id',
  'number',
  'runner_id',
  'credential_id',
  'token',
  'eligible_at',
  'claimed_steady',
  'claimed_at',
  'lease_until',
  'host',
]);
const textsOf = statement<{ id: string }, { message: string; options: string }>((db, s) =>
  db.selectFrom('execution_texts').select(['message', 'options']).where('execution_id', '=', s.id),
);
const agentOf = statement<{ id: string }, Parameters<typeof agentFrom>[0]>((db, s) =>
  db.selectFrom('agents').selectAll().where('id', '=', s.id),
);
type SessionSoFar = Pick<Sessions, 'cli_session_id' | 'cli_cost_total' | 'kept_ref'>;
const sessionOf = statement<{ id: string }, SessionSoFar>((db, s) =>
  db.selectFrom('sessions').select(['cli_session_id', 'cli_cost_total', 'kept_ref']).where('id', '=', s.id),
);
const lastFacts = statement<{ id: string }, { facts: string }>((db, s) =>
  db
    .selectFrom('attempts')
    .innerJoin('attempt_facts', 'attempt_facts.attempt_id', 'attempts.id')
    .select('attempt_facts.facts')
    .where('attempts.execution_id', '=', s.id)
    .orderBy('attempts.number', 'desc')
    .limit(lit.one),
);

/** What the session's CLI said last: which session to resume, and its cumulative cost (R41). */
export const cliSession = async (tx: ReadTx, row: Row): Promise<{ id: string | null; cost_before: number | null }> => {
  const session = row.session_id === null ? undefined : (await sessionOf(tx, { id: row.session_id })).rows[0];
  const id = session?.cli_session_id ?? row.cli_session_id;
  return { id, cost_before: id === null ? null : (session?.cli_cost_total ?? null) };
};

/** The tree to go on from: of the attempt before, or for a first one of the session's turn before. */
const resumeRef = async (tx: Tx, row: Row): Promise<string | null> => {
  if (row.attempt === 0)
    return row.session_id === null ? null : ((await sessionOf(tx, { id: row.session_id })).rows[0]?.kept_ref ?? null);
  const found = (await lastFacts(tx, { id: row.id })).rows[0];
  return found ? ((JSON.parse(found.facts) as Facts).workspace?.ref ?? null) : null;
};

const lendOut = async (tx: Tx, id: string): Promise<CredentialRow> => {
  await tx.db.updateTable('credentials').set({ last_used_at: tx.at.now }).where('id', '=', id).execute();
  return credentialFrom(
    await tx.db.selectFrom('credentials').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
  );
};

const secretsOf = statement<{ agent_id: string }, Credentials>((db, s) =>
  db.selectFrom('credentials').selectAll().where('agent_id', '=', s.agent_id).orderBy('name'),
);

export const startAttempt = async (tx: Tx, a: NewAttempt): Promise<ClaimRow> => {
  const row = await mustHave(tx, a.execution_id);
  const cli = await cliSession(tx, row);
  const number = row.attempt + 1;
  const { now, steady } = tx.at;
  const { changes } = await take(tx, {
    id: row.id,
    token: a.token,
    attempt_id: a.attempt_id,
    attempt: number,
    runner_id: a.runner.id,
    credential_id: a.credential_id,
    cli_session_id: cli.id,
    waited_ms: row.waited_ms + Math.max(0, steady - row.eligible_at),
  });
  if (changes !== 1) throw new Error(`execution ${row.id} was ${row.status} when it was claimed`);
  await insertAttempt(tx, {
    id: a.attempt_id,
    execution_id: row.id,
    number,
    runner_id: a.runner.id,
    credential_id: a.credential_id,
    token: a.token,
    eligible_at: row.eligible_at,
    claimed_steady: steady,
    claimed_at: now,
    lease_until: steady + a.lease_ms,
    host: a.runner.host,
  });
  await tell(tx, {
    type: 'execution.claimed',
    execution_id: row.id,
    agent_name: row.agent_name,
    data: { attempt: number, runner_id: a.runner.id },
  });
  const texts = (await textsOf(tx, { id: row.id })).rows[0]!;
  const agent = (await agentOf(tx, { id: row.agent_id })).rows[0]!;
  return {
    execution: executionFrom(await mustHave(tx, row.id)),
    agent: agentFrom(agent),
    attempt_id: a.attempt_id,
    token: a.token,
    message: texts.message,
    options: JSON.parse(texts.options) as RunOptions,
    credential: a.credential_id === null ? null : await lendOut(tx, a.credential_id),
    secrets: (await secretsOf(tx, { agent_id: row.agent_id })).rows.map(credentialFrom),
    session_cost_before: cli.cost_before,
    resume_ref: await resumeRef(tx, row),
  };
};
