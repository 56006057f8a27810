/**
 * Loads what holds up providers for the claim's policy. In good weather that is two looks at empty indexes; only when something
 * is open or paused are the agents' routes read.
 */
import { sql } from 'kysely';
import type { AdapterName } from '../../contract/agent.ts';
import { providerOf } from '../claim/provider.ts';
import type { ProviderGate } from '../claim/weather.ts';
import { statement } from '../statement.ts';
import type { ReadTx } from '../tx.ts';

interface OpenIncident {
  id: string;
  provider: string;
  state: 'open' | 'reopening';
  next_at: number;
}
const openIncidents = statement<object, OpenIncident>((db) =>
  db
    .selectFrom('incidents')
    .select(['id', 'provider', 'state', 'next_at'])
    .where('closed_at', 'is', null)
    .$castTo<OpenIncident>(),
);
const pauses = statement<object, { provider: string }>((db) => db.selectFrom('provider_pauses').select('provider'));
const routes = statement<object, { id: string; adapter: AdapterName; env: string; base_url: string | null }>((db) =>
  db.selectFrom('agents').select(['id', 'adapter', 'env', 'base_url']).where('deleted_at', 'is', null),
);
/** Of an open incident, the attempt that is its probe and has not ended. */
const liveProbe = statement<{ incident_id: string }, { attempt_id: string; execution_id: string }>((db, s) =>
  db
    .selectFrom('incident_probes')
    .innerJoin('attempts', 'attempts.id', 'incident_probes.attempt_id')
    .select(['incident_probes.attempt_id', 'incident_probes.execution_id'])
    .where('incident_probes.incident_id', '=', s.incident_id)
    .where('incident_probes.outcome', 'is', null)
    .where('attempts.ended_at', 'is', null)
    .limit(sql.lit(1)),
);

export const probeOf = async (tx: ReadTx, incident_id: string) =>
  (await liveProbe(tx, { incident_id })).rows[0] ?? null;

export const agentProviders = async (tx: ReadTx): Promise<Map<string, string>> => {
  const all = new Map<string, string>();
  for (const a of (await routes(tx, {})).rows) {
    const provider = providerOf({ ...a, env: JSON.parse(a.env) as Record<string, string> });
    if (provider !== null) all.set(a.id, provider);
  }
  return all;
};

const none: ReadonlyMap<string, ProviderGate> = new Map();

/** By agent. */
export const loadGates = async (tx: ReadTx): Promise<ReadonlyMap<string, ProviderGate>> => {
  const open = (await openIncidents(tx, {})).rows;
  const paused = (await pauses(tx, {})).rows;
  if (open.length === 0 && paused.length === 0) return none;
  const gates = new Map<string, ProviderGate>();
  for (const { provider } of paused) gates.set(provider, { provider, paused: true, incident: null });
  for (const { provider, ...i } of open)
    gates.set(provider, {
      provider,
      paused: gates.has(provider),
      incident: { ...i, probing: i.state === 'open' && (await probeOf(tx, i.id)) !== null },
    });
  const byAgent = new Map<string, ProviderGate>();
  for (const [agent_id, provider] of await agentProviders(tx)) {
    const gate = gates.get(provider);
    if (gate) byAgent.set(agent_id, gate);
  }
  return byAgent;
};
