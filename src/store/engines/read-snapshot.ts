/** Runs read verbs, each on one snapshot, so that a list and its counts fit together. Never writes. */
import { Fault } from '../../contract/errors.ts';
import type { At } from '../store.ts';
import type { ReadTx } from '../tx.ts';
import { readVerbs } from '../verbs/registry.ts';
import { kyselyOn } from './sqlite-dialect.ts';
import type { SqliteHandle } from './sqlite-handle.ts';

export interface ReadOrder {
  verb: string;
  args: unknown;
  at: At;
}
type AnyVerb = (tx: ReadTx, args: unknown) => Promise<unknown>;

export const readSnapshot = (handle: SqliteHandle) => {
  const db = kyselyOn(handle);
  const run: ReadTx['run'] = async (sql, parameters) => handle.run(sql, parameters);
  return async ({ verb, args, at }: ReadOrder): Promise<unknown> => {
    const known = (readVerbs as Partial<Record<string, unknown>>)[verb];
    if (typeof known !== 'function') throw new Fault('internal', `the store has no read verb ${verb}`);
    handle.run('BEGIN', []);
    try {
      return await (known as AnyVerb)({ db, engine: handle, run, at }, args);
    } finally {
      handle.run('COMMIT', []);
    }
  };
};
