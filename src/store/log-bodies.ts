/**
 * Bodies of logs live apart from the hot tables (R48), behind these calls: in logs.db with a thread of its own, so that
 * 200 agents that stream never wait for, or hold up, a claim.
 */
import type { ReadVerbs, Store } from './store.ts';

export interface LogBodies {
  /** Durable before it answers; a repeat of stored seqs changes nothing. Returns the highest stored seq. */
  append: Store['appendLog'];
  log(args: ReadVerbs['log'][0]): Promise<ReadVerbs['log'][1]>;
  storedSeq(args: ReadVerbs['stored_seq'][0]): Promise<ReadVerbs['stored_seq'][1]>;
  /** Retention: logs last written before `before`, at most `max` chunks of them at a time. */
  drop(args: { before: number; max: number }): Promise<{ deleted: number; more: boolean }>;
  close(): Promise<void>;
}
