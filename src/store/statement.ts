/**
 * Compile once, run often. Kysely's builders cost more than SQLite's work in a hot verb (enqueue at 256 in flight: 6,000/s
 * built each time, 11,300/s compiled once), so a hot statement is built with slots for its values, and the slots are filled
 * at each run. The cache is keyed by engine, not by transaction: each engine compiles with its own dialect.
 */
import { type CompiledQuery, type InsertObject, type Kysely, sql } from 'kysely';
import type { Database } from './schema.ts';
import type { Ran, ReadTx } from './tx.ts';

class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

interface Compilable<R> {
  compile(): CompiledQuery<R>;
}
interface Ready {
  sql: string;
  fill: readonly unknown[];
}

type Statement<A, R> = (tx: ReadTx, args: A) => Promise<Ran<R>>;

/**
 * `build` sees slots where the types say values: it may only hand them on to the builder, never look at them. A value that
 * changes the shape (null for `is null`, lists) needs a statement of its own.
 */
export const statement = <A extends object, R>(
  build: (db: Kysely<Database>, slots: A) => Compilable<R>,
): Statement<A, R> => {
  const ready = new WeakMap<object, Ready>();
  return (tx, args) => {
    let made = ready.get(tx.engine);
    if (!made) {
      const slots = new Proxy({} as A, { get: (_, name) => new Slot(String(name)) });
      const compiled = build(tx.db, slots).compile();
      made = { sql: compiled.sql, fill: compiled.parameters };
      ready.set(tx.engine, made);
    }
    const parameters = new Array<unknown>(made.fill.length);
    for (let i = 0; i < parameters.length; i++) {
      const p = made.fill[i];
      parameters[i] = p instanceof Slot ? (args[p.name as keyof A] ?? null) : p;
    }
    return tx.run<R>(made.sql, parameters);
  };
};

type Row<T extends keyof Database, C extends keyof Database[T]> = Pick<
  InsertObject<Database, T>,
  C & keyof InsertObject<Database, T>
>;

/** An insert of exactly these columns. */
export const insertInto = <T extends keyof Database & string, C extends keyof Database[T] & string>(
  table: T,
  columns: readonly C[],
): Statement<Row<T, C>, unknown> =>
  statement<Row<T, C>, unknown>((db, slots) => {
    const values: Record<string, unknown> = {};
    for (const c of columns) values[c] = (slots as Record<string, unknown>)[c];
    return db.insertInto(table).values(values as InsertObject<Database, T>);
  });

/**
 * States and bits as literals: a bound state against a partial index is planned again at each run, and does not use it.
 */
export const lit = {
  queued: sql.lit('queued' as const),
  running: sql.lit('running' as const),
  waiting: sql.lit('waiting' as const),
  interactive: sql.lit('interactive' as const),
  batch: sql.lit('batch' as const),
  nested: sql.lit('nested' as const),
  open: sql.lit('open' as const),
  acknowledged: sql.lit('acknowledged' as const),
  zero: sql.lit(0 as const),
  one: sql.lit(1 as const),
};
