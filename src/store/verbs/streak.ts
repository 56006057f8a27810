/**
 * The same ending several times in a row is a trouble of its own, also when each alone would pass. One row per agent while its
 * endings are of one cause; a success or another cause begins anew. Cancelled and shut-down runs say nothing either way.
 */
import type { Cause } from '../../contract/causes.ts';
import { itemLimits } from '../../contract/operator.ts';
import { statement } from '../statement.ts';
import type { Tx } from '../tx.ts';

interface Streak {
  cause: Cause;
  times: string;
}
const find = statement<{ agent_id: string }, Streak>((db, s) =>
  db.selectFrom('streaks').select(['cause', 'times']).where('agent_id', '=', s.agent_id),
);
const drop = statement<{ agent_id: string }, unknown>((db, s) =>
  db.deleteFrom('streaks').where('agent_id', '=', s.agent_id),
);
const put = statement<Streak & { agent_id: string }, unknown>((db, s) =>
  db
    .insertInto('streaks')
    .values({ agent_id: s.agent_id, cause: s.cause, times: s.times })
    .onConflict((c) =>
      c.column('agent_id').doUpdateSet((eb) => ({ cause: eb.ref('excluded.cause'), times: eb.ref('excluded.times') })),
    ),
);

export const endStreak = async (tx: Tx, agent_id: string): Promise<void> => {
  if ((await find(tx, { agent_id })).rows.length > 0) await drop(tx, { agent_id });
};

/** Counts this ending; how many of its cause came in a row within the window. */
export const streakOf = async (tx: Tx, agent_id: string, cause: Cause): Promise<number> => {
  const known = (await find(tx, { agent_id })).rows[0];
  const before = known?.cause === cause ? (JSON.parse(known.times) as number[]) : [];
  const from = tx.at.steady - itemLimits.streakWindowMs;
  const times = [...before.filter((t) => t > from), tx.at.steady].slice(-timesKept);
  await put(tx, { agent_id, cause, times: JSON.stringify(times) });
  return times.length;
};

/** More is said as this many. */
const timesKept = 99;
