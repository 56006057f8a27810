/**
 * How many rows of an agent wait, for its bound and for the place of a new row. Counted from rows. A count costs some 50 ns a
 * row, so at a bound of 10,000 it would cost more than the enqueue itself: the one writer of a database remembers how many
 * more rows certainly fit before it must count again (only what is queued adds to the count, so the rest can but be more).
 */
import type { ExecutionClass } from '../../contract/execution.ts';
import { remembered, unchanged } from '../remembered.ts';
import type { Lane } from '../schema.ts';
import { lit, statement } from '../statement.ts';
import type { Tx } from '../tx.ts';

/** Places are exact up to this one. */
const placesCounted = 200;

const inLane = statement<{ agent_id: string; lane: Lane; most: number }, { n: number }>((db, s) =>
  db
    .selectFrom(
      db
        .selectFrom('executions')
        .select('id')
        .where('lane', '=', s.lane)
        .where('agent_id', '=', s.agent_id)
        .limit(s.most)
        .as('rows'),
    )
    .select(db.fn.countAll<number>().as('n')),
);
const behindSession = statement<{ agent_id: string; session_id: string; most: number }, { n: number }>((db, s) =>
  db
    .selectFrom(
      db
        .selectFrom('executions')
        .select('id')
        .where('agent_id', '=', s.agent_id)
        .where('session_id', '=', s.session_id)
        .where('behind', '=', lit.one)
        .where('completed_at', 'is', null)
        .limit(s.most)
        .as('rows'),
    )
    .select(db.fn.countAll<number>().as('n')),
);
const behindAgent = statement<{ agent_id: string; most: number }, { n: number }>((db, s) =>
  db
    .selectFrom(
      db
        .selectFrom('executions')
        .select('id')
        .where('agent_id', '=', s.agent_id)
        .where('behind', '=', lit.one)
        .where('completed_at', 'is', null)
        .limit(s.most)
        .as('rows'),
    )
    .select(db.fn.countAll<number>().as('n')),
);

const count = async (run: Promise<{ rows: { n: number }[] }>): Promise<number> => Number((await run).rows[0]?.n ?? 0);

/** Root rows of the agent that wait for a limit or a session, at most `most`. Rows parked until a time are not among them. */
const backlogOf = async (tx: Tx, agent_id: string, most: number): Promise<number> => {
  let n = await count(inLane(tx, { agent_id, lane: 'interactive', most }));
  if (n < most) n += await count(inLane(tx, { agent_id, lane: 'batch', most: most - n }));
  if (n < most) n += await count(behindAgent(tx, { agent_id, most: most - n }));
  return n;
};

const keyOf = (agent_id: string) => `backlog ${agent_id}`;

/** Null when one more fits; else how many wait. */
export const backlogFull = async (tx: Tx, agent_id: string, bound: number): Promise<number | null> => {
  if ((remembered(tx.engine).get(keyOf(agent_id)) ?? 0) > 0) return null;
  const n = await backlogOf(tx, agent_id, bound);
  if (n >= bound) return n;
  remembered(tx.engine).set(keyOf(agent_id), bound - n);
  return null;
};

/** Called for every row that begins to wait, whoever asked for it: spends one of what certainly fits. */
export const backlogGrew = (tx: Tx, agent_id: string, by = 1): void => {
  const left = remembered(tx.engine).get(keyOf(agent_id));
  if (left !== undefined) remembered(tx.engine).set(keyOf(agent_id), left - by);
};

/** Called when the bound changes. */
export const backlogBoundChanged = (tx: Tx, agent_id: string): void =>
  void remembered(tx.engine).delete(keyOf(agent_id));

/**
 * The place a row enqueued now will have: in its session's line, or in its lane. A lane is counted once (some 30 µs when it is
 * long, as much as the insert itself) and then counted on, until another verb may have taken something out of it.
 */
export const placeInLine = async (
  tx: Tx,
  row: { agent_id: string; class: ExecutionClass; session_id: string; behind: 0 | 1 },
): Promise<number> => {
  const { agent_id, session_id } = row;
  if (row.behind === 1) return 2 + (await count(behindSession(tx, { agent_id, session_id, most: placesCounted - 1 })));
  const key = `lane ${row.class} ${agent_id}`;
  const known = unchanged(tx.engine).get(key) as number | undefined;
  const ahead = known ?? (await count(inLane(tx, { agent_id, lane: row.class, most: placesCounted - 1 })));
  unchanged(tx.engine).set(key, Math.min(ahead + 1, placesCounted - 1));
  return 1 + ahead;
};
