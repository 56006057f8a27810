/** Chat sessions of an agent. Cleared ones keep their rows: the executions of their turns name them. */
import type { Selectable } from 'kysely';
import type { SessionRow } from '../rows.ts';
import type { Sessions } from '../schema.ts';
import type { ReadVerb, WriteVerb } from '../tx.ts';

const sessionFrom = (r: Selectable<Sessions>): SessionRow => ({
  id: r.id,
  agent_id: r.agent_id,
  cli_session_id: r.cli_session_id,
  is_main: r.is_main === 1,
  cost_usd: r.cost_usd,
  cli_cost_total: r.cli_cost_total,
  message_count: r.message_count,
  context_used: r.context_used,
  context_max: r.context_max,
  created_at: r.created_at,
  last_used_at: r.last_used_at,
  cleared_at: r.cleared_at,
});

/** The next chat begins anew: no session of before is the main one, or is resumed for a caller's session. */
export const clearChat: WriteVerb<'clear_chat'> = async (tx, { agent_id }) => {
  const { numUpdatedRows } = await tx.db
    .updateTable('sessions')
    .set({ cleared_at: tx.at.now, is_main: 0, caller_session_id: null })
    .where('agent_id', '=', agent_id)
    .where('cleared_at', 'is', null)
    .executeTakeFirstOrThrow();
  await tx.db.updateTable('agents').set({ main_session_id: null }).where('id', '=', agent_id).execute();
  tx.stirred.agents_changed = true;
  return { cleared: Number(numUpdatedRows) };
};

export const sessions: ReadVerb<'sessions'> = async (tx, { agent_id }) => {
  const rows = await tx.db
    .selectFrom('sessions')
    .selectAll()
    .where('agent_id', '=', agent_id)
    .orderBy('id', 'desc')
    .execute();
  return rows.map(sessionFrom);
};

export const session: ReadVerb<'session'> = async (tx, { id }) => {
  const row = await tx.db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? sessionFrom(row) : null;
};
