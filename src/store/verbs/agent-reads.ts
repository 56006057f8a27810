/** Agents that are in service; deleted ones are known only to the attempts that still end. */
import type { ReadVerb } from '../tx.ts';
import { agentFrom } from './agent-row.ts';

export const agentByName: ReadVerb<'agent_by_name'> = async (tx, { name }) => {
  const row = await tx.db
    .selectFrom('agents')
    .selectAll()
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row ? agentFrom(row) : null;
};

export const agents: ReadVerb<'agents'> = async (tx) => {
  const rows = await tx.db.selectFrom('agents').selectAll().where('deleted_at', 'is', null).orderBy('name').execute();
  return rows.map(agentFrom);
};
