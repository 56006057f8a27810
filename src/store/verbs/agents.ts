/**
 * Agents are made, changed and taken out of service. A new cap acts at the next claim and ends nothing. A stopped agent starts no
 * root work; a child that waits for it fails at once, typed (F4). A deleted one keeps its row for the attempts that still end, and
 * its name is free at once: an agent made again under it is another agent (drill 36).
 */
import { refuse } from '../../contract/errors.ts';
import { lit, statement } from '../statement.ts';
import type { Tx, WriteVerb } from '../tx.ts';
import { agentFrom, agentInto, columnsOf } from './agent-row.ts';
import { backlogBoundChanged } from './backlog.ts';
import { cancelQueued } from './cancel.ts';
import { closeItemsOfAgent } from './close-items.ts';
import { stopExecution } from './end.ts';
import { tell } from './events.ts';
import type { Row } from './execution-row.ts';
import { failStopped } from './open-call.ts';
import { takeResumes } from './take-resumes.ts';

const nestedOf = statement<{ agent_id: string }, Row>((db, s) =>
  db.selectFrom('executions').selectAll().where('lane', '=', lit.nested).where('agent_id', '=', s.agent_id),
);
const liveOf = (state: typeof lit.running | typeof lit.waiting) =>
  statement<{ agent_id: string }, Row>((db, s) =>
    db.selectFrom('executions').selectAll().where('status', '=', state).where('agent_id', '=', s.agent_id),
  );
const runningOf = liveOf(lit.running);
const waitingOf = liveOf(lit.waiting);

export const createAgent: WriteVerb<'create_agent'> = async (tx, { agent }) => {
  const taken = await tx.db
    .selectFrom('agents')
    .select('id')
    .where('name', '=', agent.name)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (taken) return refuse('duplicate', `An agent named ${agent.name} exists already.`);
  await tx.db.insertInto('agents').values(agentInto(agent)).execute();
  tx.stirred.agents_changed = true;
  await tell(tx, { type: 'agent.created', agent_name: agent.name, data: { agent_id: agent.id } });
  const row = await tx.db.selectFrom('agents').selectAll().where('id', '=', agent.id).executeTakeFirstOrThrow();
  return agentFrom(row);
};

export const updateAgent: WriteVerb<'update_agent'> = async (tx, { id, patch }) => {
  const found = tx.db.selectFrom('agents').selectAll().where('id', '=', id).where('deleted_at', 'is', null);
  if (!(await found.executeTakeFirst())) return null;
  await tx.db
    .updateTable('agents')
    .set({ ...columnsOf(patch), updated_at: tx.at.now })
    .where('id', '=', id)
    .execute();
  const row = await found.executeTakeFirstOrThrow();
  backlogBoundChanged(tx, id);
  await tell(tx, { type: 'agent.changed', agent_name: row.name, data: { agent_id: id, changed: Object.keys(patch) } });
  if (patch.desired_state === 'stopped') await failNested(tx, id);
  tx.stirred.claimable = true;
  tx.stirred.agents_changed = true;
  await takeResumes(tx);
  return agentFrom(row);
};

const failNested = async (tx: Tx, agent_id: string): Promise<void> => {
  for (const child of (await nestedOf(tx, { agent_id })).rows) {
    const done = await tx.alone(() => failStopped(tx, child));
    if (!done.ok) tx.odd(`execution ${child.id} cannot be failed`, done.error);
  }
};

export const deleteAgent: WriteVerb<'delete_agent'> = async (tx, { id, by }) => {
  const row = await tx.db
    .selectFrom('agents')
    .select('name')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!row) return { deleted: false, cancelled: 0 };
  // First, so that what follows finds no agent in service.
  await tx.db
    .updateTable('agents')
    .set({ deleted_at: tx.at.now, desired_state: 'stopped', updated_at: tx.at.now })
    .where('id', '=', id)
    .execute();
  tx.stirred.agents_changed = true;
  await failNested(tx, id);
  let cancelled = await cancelQueued(tx, id, by);
  for (const find of [runningOf, waitingOf])
    for (const live of (await find(tx, { agent_id: id })).rows) {
      const done = await tx.alone(() => stopExecution(tx, live, by, 'its agent was deleted'));
      if (done.ok) cancelled++;
      else tx.odd(`execution ${live.id} cannot be stopped`, done.error);
    }
  await tx.db.deleteFrom('lanes').where('agent_id', '=', id).execute();
  await tx.db.deleteFrom('webhooks').where('agent_id', '=', id).execute();
  await tx.db.deleteFrom('schedules').where('agent_id', '=', id).execute();
  await tx.db.deleteFrom('budgets').where('subject', '=', id).execute();
  await tx.db.deleteFrom('streaks').where('agent_id', '=', id).execute();
  await closeItemsOfAgent(tx, row.name);
  await tell(tx, { type: 'agent.deleted', agent_name: row.name, data: { agent_id: id, by } });
  await takeResumes(tx);
  return { deleted: true, cancelled };
};
