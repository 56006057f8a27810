/**
 * Kysely over one open `node:sqlite` handle: compiles for SQLite and runs each statement on it at once. Kysely's own dialect
 * expects another driver's interface. It opens no transaction: BEGIN, SAVEPOINT and COMMIT belong to the group commit.
 */
import {
  type CompiledQuery,
  type DatabaseConnection,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Database } from '../schema.ts';
import type { SqliteHandle } from './sqlite-handle.ts';

const refuse = async (): Promise<never> => {
  throw new Error('a verb runs inside one transaction already');
};

export const kyselyOn = (handle: SqliteHandle): Kysely<Database> => {
  const connection: DatabaseConnection = {
    executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
      const { rows, changes } = handle.run<R>(query.sql, query.parameters);
      return { rows, numAffectedRows: BigInt(changes) };
    },
    streamQuery: () => {
      throw new Error('the store reads whole results');
    },
  };
  return new Kysely<Database>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => ({
        init: async () => {},
        acquireConnection: async () => connection,
        beginTransaction: refuse,
        commitTransaction: refuse,
        rollbackTransaction: refuse,
        releaseConnection: async () => {},
        destroy: async () => {},
      }),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
};
