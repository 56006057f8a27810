/**
 * What an ending says about its provider, and what an open incident changes about the decision: who failed by weather is parked
 * at no cost until the incident is over (it is one of the next probes), instead of being tried again at once or ended. A program
 * whose work breaks the provider each time must not be the probe for ever: after `weatherLimits.parks` its ending counts.
 */
import { weatherLimits } from '../../contract/weather.ts';
import { providerOf } from '../claim/provider.ts';
import { statement } from '../statement.ts';
import type { SettleArgs } from '../store.ts';
import type { ReadTx, Tx } from '../tx.ts';
import type { Row } from './execution-row.ts';
import { weatherFailed, weatherSilent, weatherWell } from './weather.ts';

type Route = Pick<Parameters<typeof providerOf>[0], 'adapter' | 'base_url'> & { env: string };
const routeOf = statement<{ id: string }, Route>((db, s) =>
  db.selectFrom('agents').select(['adapter', 'env', 'base_url']).where('id', '=', s.id),
);

export const providerOfAgent = async (tx: ReadTx, agent_id: string): Promise<string | null> => {
  const route = (await routeOf(tx, { id: agent_id })).rows[0];
  return route ? providerOf({ ...route, env: JSON.parse(route.env) as Record<string, string> }) : null;
};

/** The arguments as they hold: with the decision that follows from the weather. */
export const byWeather = async (
  tx: Tx,
  row: Row,
  attempt: { id: string; claimed_steady: number },
  args: SettleArgs,
): Promise<SettleArgs> => {
  const provider = await providerOfAgent(tx, row.agent_id);
  if (provider === null) return args;
  const { verdict, weather } = args;
  if (weather === null) {
    if (verdict.cause === 'success') await weatherWell(tx, provider, attempt.id);
    else await weatherSilent(tx, provider, attempt.id);
    return args;
  }
  const incident = await weatherFailed(tx, {
    attempt_id: attempt.id,
    execution_id: row.id,
    agent_id: row.agent_id,
    agent_name: row.agent_name,
    provider,
    claimed_steady: attempt.claimed_steady,
    cause: verdict.cause,
    ...weather,
  });
  if (incident === null || !verdict.retryable || row.parked >= weatherLimits.parks) return args;
  if (row.cancel_requested_at !== null || args.decision.kind === 'park') return args;
  return {
    ...args,
    decision: { kind: 'park', until: tx.at.now, why: `${provider} is in trouble` },
    // Nobody is needed: it goes on by itself.
    operator_items: [],
    repeated: null,
  };
};
