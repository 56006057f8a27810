/** A key and a body are one execution for 24 h, per scope: checked and stored in the transaction that makes the execution. */
import { type Refusal, refuse } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { statement } from '../statement.ts';
import type { EnqueueArgs } from '../store.ts';
import type { Tx } from '../tx.ts';
import { executionById, type Row } from './execution-row.ts';

type Key = NonNullable<EnqueueArgs['idempotency']>;

const find = statement<Key, { body_hash: string; execution_id: string; stored_steady: number }>((db, s) =>
  db
    .selectFrom('idempotency')
    .select(['body_hash', 'execution_id', 'stored_steady'])
    .where('scope', '=', s.scope)
    .where('key', '=', s.key),
);
const put = statement<Key & { execution_id: string; stored_steady: number }, unknown>((db, s) =>
  db
    .insertInto('idempotency')
    .values({
      scope: s.scope,
      key: s.key,
      body_hash: s.body_hash,
      execution_id: s.execution_id,
      stored_steady: s.stored_steady,
    })
    .onConflict((c) =>
      c.columns(['scope', 'key']).doUpdateSet((eb) => ({
        body_hash: eb.ref('excluded.body_hash'),
        execution_id: eb.ref('excluded.execution_id'),
        stored_steady: eb.ref('excluded.stored_steady'),
      })),
    ),
);

/** The execution of an earlier send, a refusal for another body, or null: then it is new. */
export const seenBefore = async (tx: Tx, key: Key): Promise<Row | Refusal | null> => {
  const found = (await find(tx, key)).rows[0];
  if (!found || tx.at.steady - found.stored_steady >= limits.idempotencyMs) return null;
  if (found.body_hash === key.body_hash) return executionById(tx, found.execution_id);
  return refuse(
    'idempotency_conflict',
    `The idempotency key was used with another body; it belongs to execution ${found.execution_id}.`,
    { executionId: found.execution_id },
  );
};

export const remember = async (tx: Tx, key: Key, execution_id: string): Promise<void> => {
  await put(tx, { ...key, execution_id, stored_steady: tx.at.steady });
};
