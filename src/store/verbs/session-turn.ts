/**
 * One turn per chat session (F1). The holder is the one row of the session with `behind = 0` that has not ended; the schema
 * forbids a second. It holds the session while queued, running, waiting and between attempts. When it ends, the turn passes to
 * the oldest that stands behind. Nested work never stands behind: it takes a session at once or is refused.
 */
import { sql } from 'kysely';
import { type Refusal, refuse } from '../../contract/errors.ts';
import type { ExecutionRequest } from '../../contract/execution.ts';
import { lit, statement } from '../statement.ts';
import type { Tx } from '../tx.ts';

interface Place {
  session_id: string;
  behind: 0 | 1;
  cli_session_id: string | null;
}

const holderOf = statement<{ session_id: string }, { id: string; agent_id: string }>((db, s) =>
  db
    .selectFrom('executions')
    .select(['id', 'agent_id'])
    .where('session_id', '=', s.session_id)
    .where('behind', '=', lit.zero)
    .where('completed_at', 'is', null),
);
const sessionById = statement<{ id: string }, { agent_id: string; cleared_at: number | null }>((db, s) =>
  db.selectFrom('sessions').select(['agent_id', 'cleared_at']).where('id', '=', s.id),
);
const sessionOfCaller = statement<{ caller_session_id: string; agent_id: string }, { id: string }>((db, s) =>
  db
    .selectFrom('sessions')
    .select('id')
    .where('caller_session_id', '=', s.caller_session_id)
    .where('agent_id', '=', s.agent_id)
    .where('cleared_at', 'is', null),
);
const nextBehind = statement<{ agent_id: string; session_id: string }, Behind>((db, s) =>
  db
    .selectFrom('executions')
    .select(['id', 'behind_ms', 'behind_since'])
    .where('agent_id', '=', s.agent_id)
    .where('session_id', '=', s.session_id)
    .where('behind', '=', lit.one)
    .where('completed_at', 'is', null)
    .orderBy('id')
    .limit(lit.one),
);

const takeTurn = statement<{ id: string; behind_ms: number }, unknown>((db, s) =>
  db
    .updateTable('executions')
    .set((eb) => ({
      behind: lit.zero,
      behind_since: sql.lit(null),
      behind_ms: s.behind_ms,
      // An item of a batch may be waited for while it stands behind; a turn of a session never is.
      lane: eb
        .case()
        .when('awaited', '=', lit.one)
        .then(sql.lit('nested' as const))
        .else(eb.ref('class'))
        .end(),
    }))
    .where('id', '=', s.id),
);

const holder = async (tx: Tx, session_id: string): Promise<{ id: string; agent_id: string } | null> =>
  (await holderOf(tx, { session_id })).rows[0] ?? null;

interface Asking {
  request: Pick<ExecutionRequest, 'kind' | 'session_id' | 'resume_session_id'>;
  agent: { id: string; name: string; main_session_id: string | null };
  /** The session of the execution that asks; null when a person asks. */
  caller: { session_id: string | null } | null;
  fresh_session_id: string;
}

/** Where a new execution stands: R18, one rule per kind of asker. */
export const placeFor = async (tx: Tx, asking: Asking): Promise<Place | Refusal> => {
  const { request, agent, caller, fresh_session_id } = asking;
  const fresh = (cli_session_id: string | null = null): Place => ({
    session_id: fresh_session_id,
    behind: 0,
    cli_session_id,
  });
  if (request.session_id !== null) return named(tx, asking, request.session_id);
  if (request.resume_session_id !== null) return fresh(request.resume_session_id);
  // A task's session row is written when its run has a session of the CLI: most tasks never need one.
  if (request.kind === 'task') return fresh();
  if (caller) {
    const own = caller.session_id;
    if (own === null) return fresh();
    const memory = (await sessionOfCaller(tx, { caller_session_id: own, agent_id: agent.id })).rows[0];
    if (!memory) {
      await create(tx, { id: fresh_session_id, agent_id: agent.id, caller_session_id: own, is_main: 0 });
      return fresh();
    }
    if (!(await holder(tx, memory.id))) return { session_id: memory.id, behind: 0, cli_session_id: null };
  } else if (agent.main_session_id === null) {
    await create(tx, { id: fresh_session_id, agent_id: agent.id, caller_session_id: null, is_main: 1 });
    await tx.db.updateTable('agents').set({ main_session_id: fresh_session_id }).where('id', '=', agent.id).execute();
    tx.stirred.agents_changed = true;
    return fresh();
  } else if (!(await holder(tx, agent.main_session_id)))
    return { session_id: agent.main_session_id, behind: 0, cli_session_id: null };
  await create(tx, { id: fresh_session_id, agent_id: agent.id, caller_session_id: null, is_main: 0 });
  return fresh();
};

const named = async (tx: Tx, asking: Asking, session_id: string): Promise<Place | Refusal> => {
  const { agent, caller } = asking;
  const held = await holder(tx, session_id);
  const known = (await sessionById(tx, { id: session_id })).rows[0];
  const owner = known?.agent_id ?? held?.agent_id;
  if (owner !== agent.id || (known && known.cleared_at !== null))
    return refuse('session_not_found', `Agent ${agent.name} has no session ${session_id}.`);
  if (!known) await create(tx, { id: session_id, agent_id: agent.id, caller_session_id: null, is_main: 0 });
  if (held && caller)
    return refuse('session_busy', `Session ${session_id} of ${agent.name} has another turn.`, {
      retryAfterMs: 5_000,
      executionId: held.id,
    });
  return { session_id, behind: held ? 1 : 0, cli_session_id: null };
};

const create = (tx: Tx, s: { id: string; agent_id: string; caller_session_id: string | null; is_main: 0 | 1 }) =>
  tx.db
    .insertInto('sessions')
    .values({ ...s, created_at: tx.at.now, last_used_at: tx.at.now })
    .execute();

/** Called by every ending, after the row has ended. */
export const passTurn = async (tx: Tx, ended: { agent_id: string; session_id: string | null; behind: 0 | 1 }) => {
  if (ended.session_id === null || ended.behind === 1) return;
  const next = (await nextBehind(tx, { agent_id: ended.agent_id, session_id: ended.session_id })).rows[0];
  if (!next) return;
  await goFirst(tx, next);
};

interface Behind {
  id: string;
  behind_ms: number;
  behind_since: number | null;
}

/** It stands behind no longer. */
export const goFirst = async (tx: Tx, next: Behind): Promise<void> => {
  await takeTurn(tx, {
    id: next.id,
    behind_ms: next.behind_ms + Math.max(0, tx.at.steady - (next.behind_since ?? tx.at.steady)),
  });
  tx.stirred.claimable = true;
};
