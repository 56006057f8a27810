/**
 * What a decision about the login of a failed attempt looks at (contract/login-view.ts), and whether it still holds when the
 * decision is written: two failures of one agent see each other, and the second goes where the first went.
 */
import { afterEvidence } from '../../contract/credential-states.ts';
import type { LoginOption, LoginView } from '../../contract/login-view.ts';
import { alikeMs, earliestReset, hasRoom, standing, suspects, tiersOf, usable } from '../claim/lend.ts';
import type { ClaimCredential } from '../claim/world.ts';
import type { ReadVerbs } from '../store.ts';
import type { ReadTx, ReadVerb } from '../tx.ts';
import { loadWorld } from './claim-world.ts';
import { autoSwitches } from './credential-world.ts';

/** The same failure on another login within this tells of the agent, or of more than logins. */
const sameFailureMs = 3_600_000;

const option = ({ id, name, kind }: ClaimCredential): LoginOption => ({ id, name, kind });

export const loginView: ReadVerb<'login_view'> = async (tx, args) => {
  const attempt = await tx.db
    .selectFrom('attempts')
    .innerJoin('executions', 'executions.id', 'attempts.execution_id')
    .select(['attempts.credential_id', 'attempts.claimed_at', 'executions.agent_id'])
    .where('attempts.id', '=', args.attempt_id)
    .executeTakeFirst();
  if (!attempt?.credential_id) return null;
  const { world: w } = await loadWorld(tx, args.limits);
  const mine = w.credentials.find((c) => c.id === attempt.credential_id);
  const agent = w.agents.get(attempt.agent_id);
  if (!mine || !agent) return null;

  const faults = await tx.db.selectFrom('credential_faults').selectAll().where('credential_id', '=', mine.id).execute();
  const before = faults.find((f) => f.kind === args.kind) ?? null;
  const after = afterEvidence(
    before,
    args.kind,
    { saw: 'failure', kind: args.kind, reset_at: args.reset_at },
    tx.at.now,
  );
  const others = usable(w, agent).filter((c) => c.id !== mine.id);
  const moved = await movedTo(tx, attempt.agent_id, mine.id, attempt.claimed_at);
  const alike = await alikeOf(tx, w.credentials, { agent_id: agent.id, mine: mine.id, cause: args.cause });
  const rest = { ...w, credentials: w.credentials.filter((c) => c.id !== mine.id && c.state === 'limited') };
  const view: Omit<LoginView, 'version'> = {
    mine: {
      ...option(mine),
      probed: faults.some((f) => f.state === 'rejected' && f.at < attempt.claimed_at),
      until: after?.until ?? null,
    },
    pool: agent.pool,
    others: others.map(option),
    moved_to: others.filter((c) => c.id === moved).map(option)[0] ?? null,
    others_reset: agent.credential_id === null ? earliestReset(rest, agent) : null,
    auto_switch: await autoSwitches(tx),
    alike: alike.map(option),
    alike_in_fleet: suspects(w, mine)
      .filter((c) => w.now - c.state_at! <= alikeMs)
      .map(option),
    works_for_others: await worksForOthers(tx, agent.id, [mine.id, ...alike.map((c) => c.id)]),
  };
  // Its own end is counted from now, and moves with the time.
  return { ...view, version: JSON.stringify([mine.state, mine.until, { ...view, mine: option(mine) }]) };
};

/** True when the decision may be written as it was made. */
export const stillSo = async (
  tx: ReadTx,
  attempt_id: string,
  { version, ...args }: { version: string } & Omit<ReadVerbs['login_view'][0], 'attempt_id'>,
): Promise<boolean> => (await loginView(tx, { attempt_id, ...args }))?.version === version;

const movedTo = async (tx: ReadTx, agent_id: string, from_id: string, since: number): Promise<string | null> => {
  const row = await tx.db
    .selectFrom('credential_switches')
    .select('to_id')
    .where('agent_id', '=', agent_id)
    .where('from_id', '=', from_id)
    .where('at', '>=', since)
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.to_id ?? null;
};

const alikeOf = async (
  tx: ReadTx,
  all: readonly ClaimCredential[],
  { agent_id, mine, cause }: { agent_id: string; mine: string; cause: string },
): Promise<ClaimCredential[]> => {
  const rows = await tx.db
    .selectFrom('credential_events')
    .select('credential_id')
    .distinct()
    .where('agent_id', '=', agent_id)
    .where('at', '>=', tx.at.now - sameFailureMs)
    .where('cause', '=', cause)
    .where('credential_id', '!=', mine)
    .execute();
  return all.filter((c) => rows.some((r) => r.credential_id === c.id));
};

const worksForOthers = async (tx: ReadTx, agent_id: string, ids: readonly string[]): Promise<boolean> => {
  const row = await tx.db
    .selectFrom('credential_works')
    .select('agent_id')
    .where('credential_id', 'in', ids)
    .where('agent_id', '!=', agent_id)
    .where('at', '>=', tx.at.now - sameFailureMs)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

export const loginOptions: ReadVerb<'login_options'> = async (tx, { agent_id, limits }) => {
  const { world: w } = await loadWorld(tx, limits);
  const agent = w.agents.get(agent_id);
  if (!agent) return { pool: null, options: [] };
  const good = usable(w, agent);
  const all = [
    ...good,
    ...tiersOf(w, agent)
      .flat()
      .filter((c) => !good.includes(c)),
  ];
  return {
    pool: agent.pool,
    options: all.map((c) => ({
      ...option(c),
      state: c.state,
      until: c.until,
      usable: standing(c, w.now) !== 'shut',
      full: !hasRoom(w, c),
    })),
  };
};
