/**
 * How much of a wait was an incident's: it does not spend the queue budget (R40), because nothing that the caller or the operator
 * could have changed held the row up. From the incidents' rows, so that it is right whatever was looked at meanwhile.
 */
import { statement } from '../statement.ts';
import type { ReadTx } from '../tx.ts';
import { providerOfAgent } from './settle-weather.ts';

interface Span {
  opened_steady: number;
  closed_steady: number | null;
}
const since = statement<{ provider: string; to: number }, Span>((db, s) =>
  db
    .selectFrom('incidents')
    .select(['opened_steady', 'closed_steady'])
    .where('provider', '=', s.provider)
    .where('opened_steady', '<', s.to),
);

/** Steady ms of these stays in which an incident of the agent's provider was not over. */
export const weatherMs = async (
  tx: ReadTx,
  agent_id: string,
  stays: readonly { from: number; to: number }[],
): Promise<number> => {
  const provider = await providerOfAgent(tx, agent_id);
  if (provider === null) return 0;
  const spans = (await since(tx, { provider, to: tx.at.steady })).rows;
  let ms = 0;
  for (const s of spans)
    for (const { from, to } of stays)
      ms += Math.max(0, Math.min(to, s.closed_steady ?? tx.at.steady) - Math.max(from, s.opened_steady));
  return ms;
};
