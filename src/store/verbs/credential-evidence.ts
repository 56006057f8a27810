/**
 * What an attempt showed about its credential, written with its ending. Failures are appended whether or not anything switches; the
 * newest evidence sets the state, by when it was seen: a result that comes late, or from a secret that was replaced, changes nothing.
 * The transitions are contract/credential-states.ts.
 */
import type { Cause } from '../../contract/causes.ts';
import type { Headroom } from '../../contract/credential.ts';
import { afterEvidence, combined, type FaultEvidence, faultKinds } from '../../contract/credential-states.ts';
import type { LoginEvidence } from '../credential-verbs.ts';
import type { CredentialFaults, Credentials } from '../schema.ts';
import { lit, statement } from '../statement.ts';
import type { Tx } from '../tx.ts';
import { updateAgent } from './agents.ts';
import { closeFleetItem } from './close-items.ts';
import { tell } from './events.ts';
import { raise } from './raise-item.ts';

interface Shown {
  credential_id: string;
  agent_id: string;
  agent_name: string;
  execution_id: string;
  cause: Cause;
  /** When its attempt was claimed, and when what it shows was seen. */
  claimed_at: number;
  at: number;
}

/** Above this a pace binds nothing: the fleet's own limit comes first. */
const paceMost = 32;

const exhaustedKey = (pool: string | null, kind: string): string => `credentials_exhausted:${pool ?? ''}:${kind}`;
export const rejectedKey = (credential_id: string): string => `login_rejected:${credential_id}`;
const alikeKey = (kind: string): string => `logins_rejected_alike:${kind}`;

const credentialOf = (tx: Tx, id: string): Promise<Credentials | undefined> =>
  tx.db.selectFrom('credentials').selectAll().where('id', '=', id).executeTakeFirst();
const faultsOf = (tx: Tx, id: string): Promise<CredentialFaults[]> =>
  tx.db.selectFrom('credential_faults').selectAll().where('credential_id', '=', id).orderBy('kind').execute();

export const showed = async (tx: Tx, shown: Shown, evidence: LoginEvidence): Promise<void> => {
  const credential = await credentialOf(tx, shown.credential_id);
  if (!credential) return;
  const ofOlderSecret = credential.replaced_at !== null && shown.claimed_at < credential.replaced_at;
  const { failure } = evidence;
  if (failure !== null) {
    const effect = ofOlderSecret
      ? 'older_secret'
      : failure.blames === 'agent'
        ? 'agent_blamed'
        : (await note(
              tx,
              credential,
              shown,
              { saw: 'failure', kind: failure.kind, reset_at: failure.reset_at },
              failure.evidence,
            ))
          ? 'state'
          : 'older_evidence';
    const now = (await credentialOf(tx, credential.id))!;
    await append(tx, shown, failure, now, effect);
    if (failure.blames === 'agent') await blameAgent(tx, shown);
    else if (effect === 'state' && failure.item !== null && now.state !== credential.state)
      await raise(tx, failure.item, { agent_name: shown.agent_name, execution_id: shown.execution_id });
  }
  if (ofOlderSecret) return;
  if (evidence.worked) await worked(tx, credential, shown);
  await pace(tx, credential, shown, evidence);
  if (
    evidence.windows !== null &&
    (credential.headroom === null || (JSON.parse(credential.headroom) as Headroom).at <= shown.at)
  )
    await tx.db
      .updateTable('credentials')
      .set({ headroom: JSON.stringify({ at: shown.at, windows: evidence.windows } satisfies Headroom) })
      .where('id', '=', credential.id)
      .execute();
};

const append = async (
  tx: Tx,
  shown: Shown,
  failure: NonNullable<LoginEvidence['failure']>,
  now: Credentials,
  effect: string,
): Promise<void> => {
  await tx.db
    .insertInto('credential_events')
    .values({
      at: tx.at.now,
      credential_id: shown.credential_id,
      agent_id: shown.agent_id,
      agent_name: shown.agent_name,
      execution_id: shown.execution_id,
      state: now.state,
      until: failure.reset_at ?? now.until,
      cause: shown.cause,
      evidence: failure.evidence,
      effect,
    })
    .execute();
};

/** True when it changed what is known. */
const note = async (
  tx: Tx,
  credential: Credentials,
  shown: Pick<Shown, 'agent_id' | 'cause' | 'at'>,
  evidence: FaultEvidence,
  text: string,
): Promise<boolean> => {
  const before = await faultsOf(tx, credential.id);
  let changed = false;
  for (const kind of faultKinds) {
    const old = before.find((f) => f.kind === kind) ?? null;
    const next = afterEvidence(old, kind, evidence, shown.at);
    if (next === old) continue;
    changed = true;
    await tx.db
      .deleteFrom('credential_faults')
      .where('credential_id', '=', credential.id)
      .where('kind', '=', kind)
      .execute();
    if (next !== null)
      await tx.db
        .insertInto('credential_faults')
        .values({
          credential_id: credential.id,
          kind,
          state: next.state,
          until: next.until,
          at: next.at,
          again: next.again,
          cause: shown.cause,
          agent_id: shown.agent_id,
          evidence: text,
        })
        .execute();
  }
  if (changed) await restate(tx, credential.id, evidence.saw === 'failure' ? text : undefined);
  return changed;
};

/** Our own record, not a provider's word: a sealed row that does not open with this server's key, or opens again. */
export const noteSeal = async (tx: Tx, credential: Credentials, opens: boolean, text: string): Promise<void> => {
  const byKind = tx.db
    .deleteFrom('credential_faults')
    .where('credential_id', '=', credential.id)
    .where('kind', '=', 'seal');
  await byKind.execute();
  if (!opens) {
    const next = afterEvidence(null, 'seal', { saw: 'failure', kind: 'seal', reset_at: null }, tx.at.now)!;
    await tx.db
      .insertInto('credential_faults')
      .values({ credential_id: credential.id, kind: 'seal', cause: null, agent_id: null, evidence: text, ...next })
      .execute();
  }
  await restate(tx, credential.id, text);
};

/** The state that counts, from the records; told when it changed. */
export const restate = async (tx: Tx, id: string, text?: string): Promise<void> => {
  const before = (await credentialOf(tx, id))!;
  const { state, until } = combined(await faultsOf(tx, id), before.worked_at);
  const changed = state !== before.state || until !== before.until;
  await tx.db
    .updateTable('credentials')
    .set({
      state,
      until,
      ...(text === undefined ? {} : { last_evidence: text }),
      ...(state === before.state ? {} : { state_at: tx.at.now }),
    })
    .where('id', '=', id)
    .execute();
  if (!changed) return;
  await tell(tx, { type: 'credential.changed', data: { credential_id: id, name: before.name, state, until } });
  tx.stirred.claimable = true;
  if (state === 'rejected' || state === 'limited') return;
  await closeFleetItem(tx, rejectedKey(id), 'the login is good again');
  await closeFleetItem(tx, alikeKey(before.kind), 'a login of the kind is good again');
  await closeFleetItem(tx, exhaustedKey(before.pool, before.kind), 'a login of the pool is good again');
};

const putWorks = statement<{ credential_id: string; agent_id: string; at: number }, unknown>((db, s) =>
  db
    .insertInto('credential_works')
    .values({ credential_id: s.credential_id, agent_id: s.agent_id, at: s.at })
    .onConflict((c) => c.columns(['credential_id', 'agent_id']).doUpdateSet((eb) => ({ at: eb.ref('excluded.at') }))),
);
const setWorked = statement<{ id: string; at: number }, unknown>((db, s) =>
  db.updateTable('credentials').set({ worked_at: s.at }).where('id', '=', s.id),
);

const worked = async (tx: Tx, credential: Credentials, shown: Shown): Promise<void> => {
  await putWorks(tx, { credential_id: credential.id, agent_id: shown.agent_id, at: shown.at });
  await setWorked(tx, { id: credential.id, at: Math.max(shown.at, credential.worked_at ?? 0) });
  if (credential.state === 'ok') return;
  if (credential.state === 'unknown') await restate(tx, credential.id);
  else await note(tx, credential, shown, { saw: 'worked' }, '');
};

const runningOn = statement<{ id: string }, { n: number }>((db, s) =>
  db
    .selectFrom('executions')
    .select(db.fn.countAll<number>().as('n'))
    .where('status', '=', lit.running)
    .where('credential_id', '=', s.id),
);

/** Additive increase, multiplicative decrease: half of what runs on it at a throttle, one more for each round that goes well. */
const pace = async (tx: Tx, credential: Credentials, shown: Shown, evidence: LoginEvidence): Promise<void> => {
  const set = async (to: number | null, at: number | null) => {
    await tx.db.updateTable('credentials').set({ pace: to, pace_at: at }).where('id', '=', credential.id).execute();
    tx.stirred.claimable = true;
  };
  if (evidence.throttled) {
    // Runs that were started before the last cut say only what it said.
    if (credential.pace_at !== null && shown.claimed_at < credential.pace_at) return;
    const running = Number((await runningOn(tx, { id: credential.id })).rows[0]!.n);
    await set(Math.max(1, Math.floor(Math.min(running, credential.pace ?? running) / 2)), tx.at.now);
  } else if (evidence.worked && credential.pace !== null) {
    const next = credential.pace + 1 / Math.floor(credential.pace);
    await set(next > paceMost ? null : next, next > paceMost ? null : credential.pace_at);
  }
};

/** What this agent's runs put against credentials that work for others is taken back, and the agent starts nothing more. */
const blameAgent = async (tx: Tx, { agent_id, cause }: Shown): Promise<void> => {
  const own = await tx.db
    .selectFrom('credential_faults')
    .select(['credential_id', 'kind'])
    .where('agent_id', '=', agent_id)
    .where('cause', '=', cause)
    .execute();
  for (const fault of own) {
    const { credential_id, kind } = fault;
    await tx.db
      .deleteFrom('credential_faults')
      .where('credential_id', '=', credential_id)
      .where('kind', '=', kind)
      .execute();
    await restate(tx, credential_id);
  }
  const agent = tx.db
    .selectFrom('agents')
    .select('desired_state')
    .where('id', '=', agent_id)
    .where('deleted_at', 'is', null);
  if ((await agent.executeTakeFirst())?.desired_state === 'running')
    await updateAgent(tx, { id: agent_id, patch: { desired_state: 'stopped' }, ...tx.at });
};
