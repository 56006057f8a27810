/** Whom a token of an attempt speaks for, as long as the attempt is its execution's newest and lives. */
import type { ReadVerb } from '../tx.ts';

export const caller: ReadVerb<'caller'> = async (tx, { execution_id, token }) =>
  (await tx.db
    .selectFrom('executions')
    .select(['agent_id', 'agent_name', 'status'])
    .where('id', '=', execution_id)
    // Set exactly while the execution is running or waiting.
    .where('token', '=', token)
    .executeTakeFirst()) ?? null;
