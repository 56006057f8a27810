/**
 * What a verb gets: one open transaction. A verb is `(tx, args) => Promise<result>` and awaits nothing but statements of `tx`,
 * because all that waits for the store waits with it. It never commits, and never reads a clock: times are `tx.at`.
 */
import type { Kysely } from 'kysely';
import type { Database } from './schema.ts';
import type { At, ReadVerbs, Stirred, WriteVerbs } from './store.ts';

export interface Ran<R> {
  rows: R[];
  changes: number;
}

export interface ReadTx {
  /** For statements that are not hot. Hot ones go through `statement`, which compiles once. */
  readonly db: Kysely<Database>;
  readonly at: At;
  /** One per engine and thread: what compiled statements and remembered values belong to. */
  readonly engine: object;
  run<R>(sql: string, parameters: readonly unknown[]): Promise<Ran<R>>;
}

export type Alone<T> = { ok: true; value: T } | { ok: false; error: unknown };

export interface Tx extends ReadTx {
  readonly stirred: Stirred;
  /** Runs under a savepoint of its own: a row that cannot be healed is rolled back and stops no other (drill 35). */
  alone<T>(work: () => Promise<T>): Promise<Alone<T>>;
  /** Rows that `alone` could not heal: logged by the server, once per time they are met. */
  odd(what: string, error: unknown): void;
}

export type WriteVerb<V extends keyof WriteVerbs> = (tx: Tx, args: WriteVerbs[V][0] & At) => Promise<WriteVerbs[V][1]>;
export type ReadVerb<V extends keyof ReadVerbs> = (tx: ReadTx, args: ReadVerbs[V][0]) => Promise<ReadVerbs[V][1]>;
