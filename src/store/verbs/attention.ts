/** Words for people on a row that lives: what a run does that its ending will not tell. Never read to decide anything. */
import { lit, statement } from '../statement.ts';
import type { ReadVerb, WriteVerb } from '../tx.ts';
import { tell } from './events.ts';
import { executionById } from './execution-row.ts';

const waitingRow = statement<{ id: string }, { waiting_since: number; token: string; attention: string }>((db, s) =>
  db
    .selectFrom('executions')
    .select((eb) => [eb.ref('waiting_since').$castTo<number>().as('waiting_since')])
    .select((eb) => [eb.ref('token').$castTo<string>().as('token'), 'attention'])
    .where('id', '=', s.id)
    .where('status', '=', lit.waiting),
);

export const waitingSince: ReadVerb<'waiting_since'> = async (tx, { execution_id }) => {
  const row = (await waitingRow(tx, { id: execution_id })).rows[0];
  return row === undefined
    ? null
    : { since: row.waiting_since, token: row.token, attention: JSON.parse(row.attention) as string[] };
};

export const markAttention: WriteVerb<'mark_attention'> = async (tx, { execution_id, token, attention }) => {
  const row = await executionById(tx, execution_id);
  if (row === null || row.token !== token) return { marked: false };
  const marks = JSON.parse(row.attention) as string[];
  if (marks.includes(attention)) return { marked: false };
  await tx.db
    .updateTable('executions')
    .set({ attention: JSON.stringify([...marks, attention]) })
    .where('id', '=', execution_id)
    .execute();
  await tell(tx, { type: 'execution.attention', execution_id, agent_name: row.agent_name, data: { attention } });
  return { marked: true };
};
