/** What agents may log in with. The secret comes sealed and leaves sealed; a deleted one is taken off its agents at once. */
import type { CredentialRow, Headroom } from '../../contract/credential.ts';
import { refuse } from '../../contract/errors.ts';
import type { Credentials } from '../schema.ts';
import type { ReadVerb, Tx, WriteVerb } from '../tx.ts';
import { closeFleetItem } from './close-items.ts';
import { noteSeal, rejectedKey, restate } from './credential-evidence.ts';
import { tell } from './events.ts';
import { raise } from './raise-item.ts';
import { takeResumes } from './take-resumes.ts';

export const credentialFrom = (r: Credentials): CredentialRow => ({
  ...r,
  headroom: r.headroom === null ? null : (JSON.parse(r.headroom) as Headroom),
});

const unseen = {
  owner_id: null,
  agent_id: null,
  replaced_at: null,
  state_at: null,
  worked_at: null,
  pace: null,
  pace_at: null,
};

export const putCredential: WriteVerb<'put_credential'> = async (tx, { credential: c }) => {
  const taken = await tx.db
    .selectFrom('credentials')
    .select('id')
    .where('name', '=', c.name)
    .where('id', '!=', c.id)
    .executeTakeFirst();
  if (taken) return refuse('duplicate', `A credential named ${c.name} exists already.`);
  const columns: Credentials = { ...unseen, ...c, headroom: c.headroom ? JSON.stringify(c.headroom) : null };
  const known = await tx.db.selectFrom('credentials').selectAll().where('id', '=', c.id).executeTakeFirst();
  if (!known) await insert(tx, columns);
  else if (known.sealed !== c.sealed) await replace(tx, columns);
  else {
    const { name, max_parallel, pool } = c;
    await tx.db.updateTable('credentials').set({ name, max_parallel, pool }).where('id', '=', c.id).execute();
  }
  const now = await tx.db.selectFrom('credentials').selectAll().where('id', '=', c.id).executeTakeFirstOrThrow();
  await tell(tx, { type: 'credential.changed', data: { credential_id: c.id, name: now.name, state: now.state } });
  // Work that waited for a credential, or for room in its cap, may run now; resumes first.
  tx.stirred.claimable = true;
  await takeResumes(tx);
  return credentialFrom(now);
};

const insert = async (tx: Tx, c: Credentials): Promise<void> => {
  await tx.db.insertInto('credentials').values(c).execute();
  if (c.state !== 'limited' && c.state !== 'rejected') return;
  // Every state that shuts a credential has its record.
  const kind = c.state === 'limited' ? 'limit' : 'login';
  const { state, until, last_evidence } = c;
  const fault = { credential_id: c.id, kind, state, until, at: tx.at.now, cause: null, agent_id: null } as const;
  await tx.db
    .insertInto('credential_faults')
    .values({ ...fault, again: 0, evidence: last_evidence ?? '' })
    .execute();
};

/** Another secret: nothing of what was known of the one before holds, whatever runs on it still say. */
const replace = async (tx: Tx, columns: Credentials): Promise<void> => {
  await tx.db
    .updateTable('credentials')
    .set({ ...columns, replaced_at: tx.at.now })
    .where('id', '=', columns.id)
    .execute();
  await tx.db.deleteFrom('credential_faults').where('credential_id', '=', columns.id).execute();
  await tx.db.deleteFrom('credential_works').where('credential_id', '=', columns.id).execute();
  await restate(tx, columns.id);
  await closeFleetItem(tx, rejectedKey(columns.id), 'it was replaced');
};

export const deleteCredential: WriteVerb<'delete_credential'> = async (tx, { id }) => {
  const { numDeletedRows } = await tx.db.deleteFrom('credentials').where('id', '=', id).executeTakeFirstOrThrow();
  if (Number(numDeletedRows) === 0) return { deleted: false };
  await tx.db.deleteFrom('credential_faults').where('credential_id', '=', id).execute();
  await tx.db.deleteFrom('credential_works').where('credential_id', '=', id).execute();
  await tx.db.updateTable('agents').set({ credential_id: null }).where('credential_id', '=', id).execute();
  await closeFleetItem(tx, rejectedKey(id), 'it was deleted');
  tx.stirred.agents_changed = true;
  await tell(tx, { type: 'credential.changed', data: { credential_id: id, deleted: true } });
  tx.stirred.claimable = true;
  await takeResumes(tx);
  return { deleted: true };
};

export const resealCredential: WriteVerb<'reseal_credential'> = async (tx, { id, before, after }) => {
  const { numUpdatedRows } = await tx.db
    .updateTable('credentials')
    .set({ sealed: after })
    .where('id', '=', id)
    .where('sealed', '=', before)
    .executeTakeFirstOrThrow();
  return { done: Number(numUpdatedRows) === 1 };
};

/** The key of the item that says which sealed rows do not open. */
const sealKey = 'credentials_do_not_open';

export const noteSeals: WriteVerb<'note_seals'> = async (tx, { unopened, item }) => {
  const rows = await tx.db.selectFrom('credentials').selectAll().where('sealed', 'is not', null).execute();
  const shut = await tx.db.selectFrom('credential_faults').select('credential_id').where('kind', '=', 'seal').execute();
  const was = (id: string) => shut.some((s) => s.credential_id === id);
  const closed = rows.filter((r) => unopened.includes(r.id) && !was(r.id));
  const opened = rows.filter((r) => !unopened.includes(r.id) && was(r.id));
  for (const r of closed) await noteSeal(tx, r, false, 'its record does not open with the key of this server');
  for (const r of opened) await noteSeal(tx, r, true, 'its record opens again');
  if (item !== null && unopened.length > 0) await raise(tx, item, { agent_name: null, execution_id: null });
  if (unopened.length === 0) await closeFleetItem(tx, sealKey, 'every record opens');
  return { closed: closed.map((r) => r.id), opened: opened.map((r) => r.id) };
};

export const credentials: ReadVerb<'credentials'> = async (tx) =>
  (await tx.db.selectFrom('credentials').selectAll().orderBy('name').execute()).map(credentialFrom);

export const credentialEvents: ReadVerb<'credential_events'> = async (tx, { limit, credential_id }) => {
  const all = tx.db.selectFrom('credential_events').selectAll().orderBy('id', 'desc').limit(limit);
  return (credential_id === undefined ? all : all.where('credential_id', '=', credential_id)).execute();
};

export const credentialSwitches: ReadVerb<'credential_switches'> = async (tx, { limit, execution_id }) => {
  const all = tx.db
    .selectFrom('credential_switches')
    .select(['id', 'at', 'agent_name', 'execution_id', 'from_id', 'to_id', 'cause'])
    .orderBy('id', 'desc')
    .limit(limit);
  return (execution_id === undefined ? all : all.where('execution_id', '=', execution_id)).execute();
};

export const credentialFaults: ReadVerb<'credential_faults'> = async (tx, { credential_id }) =>
  tx.db
    .selectFrom('credential_faults')
    .select(['kind', 'state', 'until', 'at', 'cause', 'evidence'])
    .where('credential_id', '=', credential_id)
    .orderBy('kind')
    .execute();

export const credentialUsage: ReadVerb<'credential_usage'> = async (tx, { credential_id, since }) => {
  const rows = await tx.db
    .selectFrom('executions')
    .innerJoin('attempts', 'attempts.execution_id', 'executions.id')
    .select(['executions.agent_name', 'attempts.verdict', 'attempts.cost_usd'])
    .where('executions.completed_at', '>=', since)
    .where('attempts.credential_id', '=', credential_id)
    .execute();
  const names = [...new Set(rows.map((r) => r.agent_name))].sort();
  return names.map((agent_name) => {
    const of = rows.filter((r) => r.agent_name === agent_name);
    const good = of.filter(
      (r) => r.verdict !== null && (JSON.parse(r.verdict) as { cause: string }).cause === 'success',
    );
    const costs = of.flatMap((r) => (r.cost_usd === null ? [] : [r.cost_usd]));
    return {
      agent_name,
      attempts: of.length,
      succeeded: good.length,
      failed: of.filter((r) => r.verdict !== null).length - good.length,
      cost_usd: costs.length === 0 ? null : costs.reduce((a, b) => a + b, 0),
    };
  });
};
