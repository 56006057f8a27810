/**
 * The life of an incident (contract/weather.ts has its states), moved by endings, by probes whose model speaks, by claims and by
 * time. What a failure, a success and a probe are is decided outside (`outcome/weather.ts`); here rows are counted. One row per
 * incident, one operator item, told at the edges; it closes itself.
 */
import { type Cause, causes, inSentence } from '../../contract/causes.ts';
import { type WeatherFamily, weatherLimits } from '../../contract/weather.ts';
import { hashedBackoff } from '../../kernel/backoff.ts';
import { derivedId } from '../../kernel/ids.ts';
import type { ProviderGate } from '../claim/weather.ts';
import type { Incidents } from '../schema.ts';
import { lit, statement } from '../statement.ts';
import type { Tx } from '../tx.ts';
import { closeFleetItem } from './close-items.ts';
import { tell } from './events.ts';
import { raise } from './raise-item.ts';

const openOf = statement<{ provider: string }, Incidents>((db, s) =>
  db.selectFrom('incidents').selectAll().where('provider', '=', s.provider).where('closed_at', 'is', null),
);
const openOnes = statement<object, Incidents>((db) =>
  db.selectFrom('incidents').selectAll().where('closed_at', 'is', null),
);
const loose = statement<{ provider: string; since: number }, { id: number; agent_id: string; agent_name: string }>(
  (db, s) =>
    db
      .selectFrom('weather_failures')
      .select(['id', 'agent_id', 'agent_name'])
      .where('provider', '=', s.provider)
      .where('steady', '>=', s.since)
      .where('incident_id', 'is', null)
      .where('cleared', '=', lit.zero),
);
const clear = statement<{ provider: string }, unknown>((db, s) =>
  db
    .updateTable('weather_failures')
    .set({ cleared: lit.one })
    .where('provider', '=', s.provider)
    .where('incident_id', 'is', null)
    .where('cleared', '=', lit.zero),
);
const probe = statement<{ id: string }, { incident_id: string }>((db, s) =>
  db.selectFrom('incident_probes').select('incident_id').where('attempt_id', '=', s.id).where('outcome', 'is', null),
);

const change = async (tx: Tx, row: Incidents, to: Partial<Incidents>): Promise<Incidents> => {
  await tx.db.updateTable('incidents').set(to).where('id', '=', row.id).execute();
  return { ...row, ...to };
};
const say = (tx: Tx, type: 'opened' | 'probing' | 'reopening' | 'closed', row: Incidents, more: object = {}) =>
  tell(tx, {
    type: `incident.${type}`,
    data: { incident_id: row.id, provider: row.provider, cause: row.cause, state: row.state, ...more },
  });

export const openIncident = async (tx: Tx, provider: string): Promise<Incidents | null> =>
  (await openOf(tx, { provider })).rows[0] ?? null;

const probesFailed = async (tx: Tx, incident_id: string): Promise<number> => {
  const all = await tx.db
    .selectFrom('incident_probes')
    .select('attempt_id')
    .where('incident_id', '=', incident_id)
    .where('outcome', '=', 'failed')
    .execute();
  return all.length;
};
const distance = (id: string, failed: number): number =>
  hashedBackoff(id, failed + 1, weatherLimits.firstProbeMs, weatherLimits.longestProbeMs);

interface Failed {
  attempt_id: string;
  execution_id: string;
  agent_id: string;
  agent_name: string;
  provider: string;
  /** Steady ms of its claim: one that was started before the incident eased is no sign of how it is now. */
  claimed_steady: number;
  cause: Cause;
  family: WeatherFamily;
  evidence: string;
}

/** An attempt ended by weather. Gives the incident it belongs to, null when it is one failure among what goes well. */
export const weatherFailed = async (tx: Tx, f: Failed): Promise<Incidents | null> => {
  const { now, steady } = tx.at;
  const { attempt_id, execution_id, agent_id, agent_name, provider, cause, family } = f;
  const open = await openIncident(tx, provider);
  await tx.db
    .insertInto('weather_failures')
    .values({
      at: now,
      steady,
      provider,
      family,
      cause,
      agent_id,
      agent_name,
      execution_id,
      attempt_id,
      incident_id: open?.id ?? null,
    })
    .execute();
  if (open === null) return begin(tx, f);
  const wasProbe = await probeEnded(tx, attempt_id, 'failed');
  if (wasProbe) return change(tx, open, { next_at: steady + distance(open.id, await probesFailed(tx, open.id)) });
  if (open.state !== 'reopening' || f.claimed_steady < (open.reopening_steady ?? 0)) return open;
  // What was let go first met the same again: it counts as a probe that failed.
  await tx.db
    .insertInto('incident_probes')
    .values({ attempt_id, incident_id: open.id, execution_id, at: now, outcome: 'failed' })
    .execute();
  const again = await change(tx, open, {
    state: 'open',
    reopening_at: null,
    reopening_steady: null,
    next_at: steady + distance(open.id, await probesFailed(tx, open.id)),
  });
  await say(tx, 'opened', again, { again: true });
  return again;
};

const begin = async (tx: Tx, f: Failed): Promise<Incidents | null> => {
  const { now, steady } = tx.at;
  const rows = (await loose(tx, { provider: f.provider, since: steady - weatherLimits.windowMs })).rows;
  const agents = [...new Set(rows.map((r) => r.agent_name))].sort();
  if (new Set(rows.map((r) => r.agent_id)).size < weatherLimits.agents) return null;
  const id = derivedId(now, f.attempt_id);
  const row: Incidents = {
    id,
    provider: f.provider,
    family: f.family,
    cause: f.cause,
    state: 'open',
    evidence: f.evidence,
    opened_at: now,
    opened_steady: steady,
    reopening_at: null,
    reopening_steady: null,
    closed_at: null,
    closed_steady: null,
    closed_why: null,
    next_at: steady + distance(id, 0),
  };
  await tx.db.insertInto('incidents').values(row).execute();
  for (const r of rows)
    await tx.db.updateTable('weather_failures').set({ incident_id: id }).where('id', '=', r.id).execute();
  await say(tx, 'opened', row, { agents });
  await raise(
    tx,
    {
      id: derivedId(now, id),
      kind: 'alert',
      dedup_key: itemKey(id),
      priority: 'high',
      title: `${f.provider}: ${inSentence(causes[f.cause].title)}, for ${agents.length} agents`,
      evidence: [
        f.evidence,
        `Failed the same way with no success between: ${agents.join(', ')}.`,
        'New work for this provider waits (provider_paused) and loses nothing; one probe at a time finds out when it is over. There is nothing to do: drover incidents.',
      ],
      fleet: true,
    },
    { agent_name: null, execution_id: null },
  );
  return row;
};
const itemKey = (incident_id: string): string => `incident:${incident_id}`;

const probeEnded = async (tx: Tx, attempt_id: string, outcome: 'passed' | 'failed' | 'silent'): Promise<boolean> => {
  if ((await probe(tx, { id: attempt_id })).rows.length === 0) return false;
  await tx.db.updateTable('incident_probes').set({ outcome }).where('attempt_id', '=', attempt_id).execute();
  return true;
};

/** The provider has answered a run: by its end, or by a probe's first word. */
export const weatherWell = async (tx: Tx, provider: string, attempt_id: string): Promise<void> => {
  const open = await openIncident(tx, provider);
  if (open === null) {
    await clear(tx, { provider });
    return;
  }
  await probeEnded(tx, attempt_id, 'passed');
  if (open.state !== 'open') return;
  const eased = await change(tx, open, {
    state: 'reopening',
    reopening_at: tx.at.now,
    reopening_steady: tx.at.steady,
    next_at: tx.at.steady,
  });
  tx.stirred.claimable = true;
  await say(tx, 'reopening', eased);
};

/** A probe need not end to be a good sign: a run may take an hour, and its model has answered. */
export const probeSpoke = async (tx: Tx, attempt_id: string): Promise<void> => {
  const found = (await probe(tx, { id: attempt_id })).rows[0];
  if (found === undefined) return;
  const row = await tx.db
    .selectFrom('incidents')
    .select('provider')
    .where('id', '=', found.incident_id)
    .executeTakeFirst();
  if (row) await weatherWell(tx, row.provider, attempt_id);
};

/** A probe ended for a reason of its own: it says nothing, and another one goes soon. */
export const weatherSilent = async (tx: Tx, provider: string, attempt_id: string): Promise<void> => {
  if (!(await probeEnded(tx, attempt_id, 'silent'))) return;
  const open = await openIncident(tx, provider);
  if (open?.state !== 'open') return;
  await change(tx, open, { next_at: tx.at.steady + weatherLimits.silentProbeMs });
  tx.stirred.claimable = true;
};

/** A run of the provider was claimed: the probe, or a paced start. Changes the gate for the heads behind it. */
export const gateTaken = async (
  tx: Tx,
  gate: ProviderGate | undefined,
  taken: { attempt_id: string; execution_id: string },
): Promise<void> => {
  const incident = gate?.incident;
  if (!gate || !incident) return;
  if (incident.state === 'reopening') {
    const { paceMs } = weatherLimits;
    incident.next_at = tx.at.steady + hashedBackoff(taken.attempt_id, 1, paceMs, paceMs);
    await tx.db.updateTable('incidents').set({ next_at: incident.next_at }).where('id', '=', incident.id).execute();
    return;
  }
  incident.probing = true;
  await tx.db
    .insertInto('incident_probes')
    .values({ ...taken, incident_id: incident.id, at: tx.at.now, outcome: null })
    .execute();
  const row = (await openIncident(tx, gate.provider))!;
  await say(tx, 'probing', row, { execution_id: taken.execution_id });
};

/** What time alone changes: a reopening that stayed quiet, an incident that nobody comes to any more. */
export const passWeather = async (tx: Tx): Promise<void> => {
  const { steady } = tx.at;
  for (const row of (await openOnes(tx, {})).rows) {
    if (row.state === 'reopening' && steady - (row.reopening_steady ?? steady) >= weatherLimits.reopeningMs)
      await close(tx, row, 'runs went well again');
    else if (row.state === 'open' && steady - row.next_at >= weatherLimits.forgottenMs && !(await isProbed(tx, row.id)))
      await close(tx, row, 'nothing has wanted to go there since');
  }
};
const isProbed = async (tx: Tx, incident_id: string): Promise<boolean> =>
  (await tx.db
    .selectFrom('incident_probes')
    .innerJoin('attempts', 'attempts.id', 'incident_probes.attempt_id')
    .select('attempts.id')
    .where('incident_id', '=', incident_id)
    .where('outcome', 'is', null)
    .where('attempts.ended_at', 'is', null)
    .executeTakeFirst()) !== undefined;

const close = async (tx: Tx, row: Incidents, why: string): Promise<void> => {
  const closed = await change(tx, row, {
    state: 'closed',
    closed_at: tx.at.now,
    closed_steady: tx.at.steady,
    closed_why: why,
  });
  await say(tx, 'closed', closed, { why });
  await closeFleetItem(tx, itemKey(row.id), why);
  tx.stirred.claimable = true;
};
