/**
 * Cancel: a compare-and-set on the row that the claimer sets (R25). Queued, or claimed and never begun: it ends here and no
 * process is started. Begun: the cancel is accepted, its runner is told, and the children of its open calls go with it.
 */
import { lit, statement } from '../statement.ts';
import type { Tx, WriteVerb } from '../tx.ts';
import { stopExecution } from './end.ts';
import { executionById, executionFrom, mustHave, type Row } from './execution-row.ts';
import { takeResumes } from './take-resumes.ts';

export const cancel: WriteVerb<'cancel'> = async (tx, { execution_id, by, reason }) => {
  const row = await executionById(tx, execution_id);
  if (!row) return { result: 'not_found', execution: null };
  if (row.completed_at !== null) return { result: 'already_finished', execution: executionFrom(row) };
  const result = await stopExecution(tx, row, by, reason);
  await takeResumes(tx);
  return { result, execution: executionFrom(await mustHave(tx, row.id)) };
};

const inLanes = statement<{ agent_id: string }, Row>((db, s) =>
  db
    .selectFrom('executions')
    .selectAll()
    .where('lane', 'in', [lit.interactive, lit.batch, lit.nested])
    .where('agent_id', '=', s.agent_id),
);
const inSessions = statement<{ agent_id: string }, Row>((db, s) =>
  db
    .selectFrom('executions')
    .selectAll()
    .where('agent_id', '=', s.agent_id)
    .where('behind', '=', lit.one)
    .where('completed_at', 'is', null),
);
const parked = statement<{ agent_id: string }, Row>((db, s) =>
  db.selectFrom('executions').selectAll().where('ripe_at', 'is not', null).where('agent_id', '=', s.agent_id),
);

/** Ends every queued row of an agent, each alone. Those behind first, so that no turn passes to a row that ends next. */
export const cancelQueued = async (tx: Tx, agent_id: string, by: string): Promise<number> => {
  const rows: Row[] = [];
  for (const find of [inSessions, parked, inLanes]) rows.push(...(await find(tx, { agent_id })).rows);
  let n = 0;
  for (const row of rows) {
    const done = await tx.alone(() => stopExecution(tx, row, by, null));
    if (done.ok) n++;
    else tx.odd(`execution ${row.id} cannot be cancelled`, done.error);
  }
  return n;
};

export const clearQueue: WriteVerb<'clear_queue'> = async (tx, { agent_id, by }) => {
  const cancelled = await cancelQueued(tx, agent_id, by);
  await takeResumes(tx);
  return { cancelled };
};
