/**
 * Claims that were lost on their way to a runner, or that a leaving runner never began: free again at once, instead of when their
 * lease ends. Only what was never begun, of this runner on this host: no process was ever started for it, so nothing can run
 * twice, and the compare-and-set of `begin` refuses the token that was given out (R22).
 */
import { lit, statement } from '../statement.ts';
import type { WriteVerb } from '../tx.ts';
import { mustHave } from './execution-row.ts';
import { requeue } from './requeue.ts';

interface Unbegun {
  id: string;
  execution_id: string;
  token: string;
}
const unbegun = statement<{ runner_id: string; host: string }, Unbegun>((db, s) =>
  db
    .selectFrom('attempts')
    .select(['id', 'execution_id', 'token'])
    .where('ended_at', 'is', null)
    // Every lease: makes it a range of the index of open attempts.
    .where('lease_until', '>', lit.zero)
    .where('begun_at', 'is', null)
    .where('runner_id', '=', s.runner_id)
    .where('host', '=', s.host)
    .orderBy('lease_until')
    .orderBy('id'),
);

export const giveBack: WriteVerb<'give_back'> = async (tx, { runner_id, host, claims }) => {
  const isLost = (id: string) => ('in' in claims ? claims.in.includes(id) : !claims.not_in.includes(id));
  const given_back: string[] = [];
  for (const attempt of (await unbegun(tx, { runner_id, host })).rows) {
    if (!isLost(attempt.id)) continue;
    const row = await mustHave(tx, attempt.execution_id);
    if (row.token !== attempt.token) continue;
    await requeue(tx, row, { afterMs: 0, why: 'its runner never had it' });
    given_back.push(row.id);
  }
  return { given_back };
};
