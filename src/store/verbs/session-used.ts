/**
 * A run told its CLI session: the next turn resumes it and goes on from the tree that was kept, and the session's cumulative
 * cost is what the next run's is measured from (R41). One that was lost with its runner told nothing, and its tree may stand there.
 */
import type { Facts } from '../../contract/facts.ts';
import { leftRef } from '../../contract/kept-ref.ts';
import type { Sessions } from '../schema.ts';
import type { Tx } from '../tx.ts';
import type { Row } from './execution-row.ts';

/**
 * What could not be kept stands where the run left it, and is kept when it is to go on; a copy outside of git stands there for good.
 * A shared workspace is there anyway.
 */
const treeOf = (row: Row, { workspace: w }: Facts): string | null =>
  w?.ref ??
  (w != null && (w.mode === 'copy' || (w.mode === 'worktree' && w.keep_error !== null)) ? leftRef(row.id) : null);

export const sessionUsed = async (tx: Tx, row: Row, facts: Facts, cost_usd: number | null): Promise<void> => {
  const { stream } = facts;
  const kept = treeOf(row, facts);
  // A run that neither spoke of a session nor kept a tree left nothing to go on from.
  if (row.session_id === null || (stream.session_id === null && kept === null)) return;
  const { now } = tx.at;
  const known = await tx.db.selectFrom('sessions').selectAll().where('id', '=', row.session_id).executeTakeFirst();
  const told = {
    cli_session_id: stream.session_id ?? known?.cli_session_id ?? null,
    // A run that told no total says nothing about it: the last one stands, unless the CLI began another session.
    cli_cost_total:
      stream.cost_usd ??
      (stream.session_id === null || known?.cli_session_id === stream.session_id
        ? (known?.cli_cost_total ?? null)
        : null),
    // A turn that kept nothing leaves the tree of the one before.
    kept_ref: kept ?? known?.kept_ref ?? null,
    context_used: stream.context_used,
    context_max: stream.context_max,
    last_used_at: now,
  };
  if (known)
    await tx.db
      .updateTable('sessions')
      .set({ ...told, cost_usd: known.cost_usd + (cost_usd ?? 0), message_count: known.message_count + 1 })
      .where('id', '=', known.id)
      .execute();
  else await begin(tx, row, row.session_id, told, cost_usd ?? 0);
};

type Told = Pick<
  Sessions,
  'cli_session_id' | 'cli_cost_total' | 'kept_ref' | 'context_used' | 'context_max' | 'last_used_at'
>;
const begin = async (tx: Tx, row: Row, id: string, told: Told, cost_usd: number): Promise<void> => {
  const own = { id, agent_id: row.agent_id, cost_usd, message_count: 1, created_at: tx.at.now };
  await tx.db
    .insertInto('sessions')
    .values({ ...told, ...own })
    .execute();
};

/** A session that has a tree of an earlier turn stays with that: it is surely there. */
export const sessionLost = async (tx: Tx, row: Row): Promise<void> => {
  if (row.session_id === null) return;
  const kept_ref = leftRef(row.id);
  const known = await tx.db
    .selectFrom('sessions')
    .select('kept_ref')
    .where('id', '=', row.session_id)
    .executeTakeFirst();
  const none = { cli_session_id: null, cli_cost_total: null, context_used: null, context_max: null };
  if (!known) await begin(tx, row, row.session_id, { ...none, kept_ref, last_used_at: tx.at.now }, 0);
  else if (known.kept_ref === null)
    await tx.db.updateTable('sessions').set({ kept_ref }).where('id', '=', row.session_id).execute();
};
