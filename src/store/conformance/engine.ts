/** What the conformance suite needs of an engine: an empty store, and the plans of the statements that ran. */
import type { Log } from '../../kernel/log.ts';
import type { At, ReadVerbs, WriteVerbs, Written } from '../store.ts';

export interface EngineUnderTest {
  write<V extends keyof WriteVerbs>(verb: V, args: WriteVerbs[V][0] & At): Promise<Written<V>>;
  read<V extends keyof ReadVerbs>(verb: V, args: ReadVerbs[V][0]): Promise<ReadVerbs[V][1]>;
  /** Write verbs that arrive at once: one group. Throws what any of them threw. */
  together(orders: { verb: keyof WriteVerbs; args: At }[]): Promise<void>;
  /** Each statement that ran on the table, with the lines of its plan that read the whole of it. */
  wholeTableReads(table: string): Promise<{ sql: string; plan: string[] }[]>;
  /** A statement by hand: what no verb would do to a row. */
  plant(sql: string): Promise<void>;
  /** From now on every change of this execution fails: a row that nothing can heal. */
  breakRow(id: string): Promise<void>;
  end(): Promise<void>;
}
export type OpenEngine = (log?: Log) => Promise<EngineUnderTest>;
