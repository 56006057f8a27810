/** Agents are made, changed and taken out of service. A new cap acts at the next claim and ends nothing. */
import { refuse } from '../../contract/errors.ts';
import type { WriteVerb } from '../tx.ts';
import { agentFrom, agentInto } from './agent-row.ts';
import { tell } from './events.ts';

export const createAgent: WriteVerb<'create_agent'> = async (tx, { agent }) => {
  const taken = await tx.db
    .selectFrom('agents')
    .select('id')
    .where('name', '=', agent.name)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (taken) return refuse('duplicate', `An agent named ${agent.name} exists already.`);
  await tx.db.insertInto('agents').values(agentInto(agent)).execute();
  await tell(tx, { type: 'agent.created', agent_name: agent.name, data: { agent_id: agent.id } });
  const row = await tx.db.selectFrom('agents').selectAll().where('id', '=', agent.id).executeTakeFirstOrThrow();
  return agentFrom(row);
};
