/** Incidents and providers as people read them, counted from rows; and a person's pause of a provider (R16). */
import { sql } from 'kysely';
import { refuse } from '../../contract/errors.ts';
import type { IncidentRow } from '../../contract/weather.ts';
import type { Incidents } from '../schema.ts';
import { lit, statement } from '../statement.ts';
import type { ReadTx, ReadVerb, WriteVerb } from '../tx.ts';
import { tell } from './events.ts';
import { openIncident } from './weather.ts';
import { agentProviders, probeOf } from './weather-gates.ts';

const failuresOf = statement<{ incident_id: string }, { agent_name: string; n: number; last: number }>((db, s) =>
  db
    .selectFrom('weather_failures')
    .select(['agent_name', sql<number>`count(*)`.as('n'), sql<number>`max(at)`.as('last')])
    .where('incident_id', '=', s.incident_id)
    .groupBy('agent_name')
    .orderBy('agent_name'),
);
const probesOf = statement<{ incident_id: string }, { n: number }>((db, s) =>
  db.selectFrom('incident_probes').select(sql<number>`count(*)`.as('n')).where('incident_id', '=', s.incident_id),
);
const runningByAgent = statement<object, { agent_id: string; n: number }>((db) =>
  db
    .selectFrom('executions')
    .select(['agent_id', sql<number>`count(*)`.as('n')])
    .where('status', '=', lit.running)
    .groupBy('agent_id'),
);

const incidentFrom = async (tx: ReadTx, r: Incidents): Promise<IncidentRow> => {
  const failures = (await failuresOf(tx, { incident_id: r.id })).rows;
  const probe = r.state === 'open' ? await probeOf(tx, r.id) : null;
  return {
    id: r.id,
    provider: r.provider,
    family: r.family,
    cause: r.cause,
    state: r.state,
    opened_at: r.opened_at,
    reopening_at: r.reopening_at,
    closed_at: r.closed_at,
    closed_why: r.closed_why,
    evidence: r.evidence,
    failures: failures.reduce((sum, f) => sum + Number(f.n), 0),
    agents: failures.map((f) => f.agent_name),
    probes: Number((await probesOf(tx, { incident_id: r.id })).rows[0]?.n ?? 0),
    last_failure_at: failures.length === 0 ? null : Math.max(...failures.map((f) => Number(f.last))),
    probe,
    next_at: r.state === 'closed' || probe !== null ? null : tx.at.now + Math.max(0, r.next_at - tx.at.steady),
  };
};

export const incidents: ReadVerb<'incidents'> = async (tx, { limit }) => {
  const all = tx.db.selectFrom('incidents').selectAll().orderBy('id', 'desc');
  const open = await all.where('closed_at', 'is', null).execute();
  const past = await all
    .where('closed_at', 'is not', null)
    .limit(Math.max(0, limit - open.length))
    .execute();
  const told: IncidentRow[] = [];
  for (const row of [...open, ...past]) told.push(await incidentFrom(tx, row));
  return told;
};

export const incident: ReadVerb<'incident'> = async (tx, { id }) => {
  const row = await tx.db.selectFrom('incidents').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? incidentFrom(tx, row) : null;
};

export const providers: ReadVerb<'providers'> = async (tx) => {
  const pauses = await tx.db.selectFrom('provider_pauses').selectAll().execute();
  const open = await tx.db.selectFrom('incidents').select(['id', 'provider']).where('closed_at', 'is', null).execute();
  const running = new Map((await runningByAgent(tx, {})).rows.map((r) => [r.agent_id, Number(r.n)]));
  const names = new Map(
    (await tx.db.selectFrom('agents').select(['id', 'name']).where('deleted_at', 'is', null).execute()).map((a) => [
      a.id,
      a.name,
    ]),
  );
  const of = await agentProviders(tx);
  const all = new Set([...of.values(), ...pauses.map((p) => p.provider), ...open.map((i) => i.provider)]);
  return [...all].sort().map((provider) => {
    const agents = [...of].filter(([, p]) => p === provider).map(([id]) => id);
    const pause = pauses.find((p) => p.provider === provider);
    return {
      provider,
      agents: agents.map((id) => names.get(id) ?? id).sort(),
      paused_at: pause?.paused_at ?? null,
      paused_by: pause?.paused_by ?? null,
      incident_id: open.find((i) => i.provider === provider)?.id ?? null,
      running: agents.reduce((sum, id) => sum + (running.get(id) ?? 0), 0),
    };
  });
};

export const pauseProvider: WriteVerb<'pause_provider'> = async (tx, { provider, paused, by }) => {
  const before = await tx.db
    .selectFrom('provider_pauses')
    .select('provider')
    .where('provider', '=', provider)
    .executeTakeFirst();
  const open = await openIncident(tx, provider);
  const known = [...new Set((await agentProviders(tx)).values())].sort();
  if (!before && !open && !known.includes(provider))
    return refuse(
      'not_found',
      `No agent goes to a provider named ${provider}. ${known.length === 0 ? 'None goes to any.' : `There is ${known.join(', ')}.`}`,
    );
  if (!paused && open?.state === 'open') {
    // Whoever says "go on" knows more than the distance of probes.
    await tx.db.updateTable('incidents').set({ next_at: tx.at.steady }).where('id', '=', open.id).execute();
    tx.stirred.claimable = true;
  }
  if (paused === (before !== undefined)) return { paused };
  if (paused)
    await tx.db.insertInto('provider_pauses').values({ provider, paused_at: tx.at.now, paused_by: by }).execute();
  else await tx.db.deleteFrom('provider_pauses').where('provider', '=', provider).execute();
  await tell(tx, { type: paused ? 'provider.paused' : 'provider.resumed', data: { provider, by } });
  tx.stirred.claimable = true;
  return { paused };
};
