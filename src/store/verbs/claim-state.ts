/** What the order of claims remembers between transactions: one meta row and one row per lane. */
import type { ExecutionClass } from '../../contract/execution.ts';
import { statement } from '../statement.ts';
import type { ReadTx, Tx } from '../tx.ts';
import { meta, putMeta } from './meta.ts';

export interface ClaimState {
  /** Nested claims, resumes among them, since the last claim of a root (F15). */
  nested: number;
  /** The newest `served` of a lane. */
  served: number;
  /** Steady ms since when a resume has left its slot to a root that is due; null = none does. */
  root_due_at: number | null;
}

interface LaneRow {
  agent_id: string;
  class: ExecutionClass;
  served: number;
}
const lanesOf = statement<object, LaneRow>((db) => db.selectFrom('lanes').select(['agent_id', 'class', 'served']));
const putLane = statement<LaneRow, unknown>((db, s) =>
  db
    .insertInto('lanes')
    .values({ agent_id: s.agent_id, class: s.class, served: s.served })
    .onConflict((c) => c.columns(['agent_id', 'class']).doUpdateSet((eb) => ({ served: eb.ref('excluded.served') }))),
);

export const claimState = async (tx: ReadTx): Promise<{ state: ClaimState; lanes: LaneRow[] }> => {
  const stored = await meta(tx, 'claims');
  const state = stored === null ? { nested: 0, served: 0, root_due_at: null } : (JSON.parse(stored) as ClaimState);
  return { state, lanes: (await lanesOf(tx, {})).rows };
};

export const saveClaimState = (tx: Tx, state: ClaimState): Promise<void> =>
  putMeta(tx, 'claims', JSON.stringify(state));

export const laneServed = async (tx: Tx, lane: LaneRow): Promise<void> => {
  await putLane(tx, lane);
};
