/**
 * Gives waiting executions whose calls are all answered their slots back: agent, fleet and credential at once, same attempt,
 * token and credential. Run by the store in every transaction that may free a slot or close a call (R17), never by a runner's
 * pull: a full runner does not pull.
 */
import { sql } from 'kysely';
import { next, rootIsDue, rootWouldGo } from '../claim/order.ts';
import { firstResume, type Pending } from '../claim/resumes.ts';
import { addRunning, type World } from '../claim/world.ts';
import { lit, statement } from '../statement.ts';
import type { ClaimLimits } from '../store.ts';
import type { Tx } from '../tx.ts';
import { loadQueue, pendingResumes } from './claim-queue.ts';
import { type ClaimState, saveClaimState } from './claim-state.ts';
import { loadWorld } from './claim-world.ts';
import { tell } from './events.ts';
import { meta, putMeta } from './meta.ts';

/** A root that is due and does not come (its runner went away) holds resumes up no longer than this. */
const rootDueMs = 1_000;

const resumeRow = statement<{ id: string; now: number }, unknown>((db, s) =>
  db
    .updateTable('executions')
    .set({
      status: lit.running,
      waiting_since: sql.lit(null),
      // Never negative in what is told: a wall clock that was set back is caught where it is read.
      called_ms: sql<number>`called_ms + (${s.now} - waiting_since)`,
    })
    .where('id', '=', s.id)
    .where('status', '=', lit.waiting),
);

export const resume = async (tx: Tx, row: Pick<Pending, 'id' | 'agent_name'>): Promise<void> => {
  await resumeRow(tx, { id: row.id, now: tx.at.now });
  tx.stirred.resumed.push(row.id);
  await tell(tx, { type: 'execution.resumed', execution_id: row.id, agent_name: row.agent_name });
};

export const takeResume = async (
  tx: Tx,
  w: World,
  p: Pending,
  pending: Pending[],
  state: ClaimState,
): Promise<void> => {
  await resume(tx, p);
  pending.splice(pending.indexOf(p), 1);
  addRunning(w, { agent_id: p.agent_id, credential_id: p.credential_id, runner_id: null, class: p.class, n: 1 });
  state.nested += 1;
};

/** The limits of the last claim: verbs that free slots are not told them. Null before the first claim: then nothing waits. */
const lastLimits = async (tx: Tx): Promise<ClaimLimits | null> => {
  const text = await meta(tx, 'limits');
  return text === null ? null : (JSON.parse(text) as ClaimLimits);
};
export const keepLimits = async (tx: Tx, limits: ClaimLimits): Promise<void> => {
  const text = JSON.stringify(limits);
  if ((await meta(tx, 'limits')) !== text) await putMeta(tx, 'limits', text);
};

export const takeResumes = async (tx: Tx): Promise<string[]> => {
  // Nearly always none: then this is one probe of an index.
  if ((await pendingResumes(tx)).length === 0) return [];
  const limits = await lastLimits(tx);
  if (!limits) return [];
  const { world } = await loadWorld(tx, limits);
  const { queue, state } = await loadQueue(tx);
  const taken: string[] = [];
  const before = JSON.stringify(state);
  for (;;) {
    const q = { ...queue, nestedInRow: state.nested };
    firstResume(world, queue.pending);
    if (rootIsDue(q) && rootWouldGo(world, q)) {
      state.root_due_at ??= tx.at.steady;
      if (tx.at.steady - state.root_due_at < rootDueMs) {
        tx.stirred.claimable = true;
        break;
      }
    }
    const chosen = next(world, q, null);
    if (chosen?.kind !== 'resume') break;
    await takeResume(tx, world, chosen.pending, queue.pending, state);
    taken.push(chosen.pending.id);
  }
  if (JSON.stringify(state) !== before) await saveClaimState(tx, state);
  return taken;
};
