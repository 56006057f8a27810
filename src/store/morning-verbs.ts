/** The verbs about the morning report: what it counts, and its way to the notification target. A part of the page in store.ts. */
import type { Cause } from '../contract/causes.ts';
import type { ExecutionStatus } from '../contract/execution.ts';
import type { MorningReport, MorningSending } from '../contract/morning.ts';

export interface MorningWrites {
  /** One a day: the second of a day is not stored. */
  put_morning_report: [{ report: MorningReport }, { created: boolean }];
  /** The one that is due, held for this sender until `hold_ms` have passed. */
  take_morning_report: [{ hold_ms: number }, MorningSending | null];
  /** `retry_at` is steady; null = it is over. */
  morning_report_tried: [{ day: string; error: string | null; retry_at: number | null }, { ok: true }];
}
export interface NightCounts {
  ended: {
    agent_name: string;
    status: ExecutionStatus;
    cause: Cause | null;
    n: number;
    /** Of the good ones: with more than one try, and on a session of before. */
    retried: number;
    resumed: number;
    parked: number;
  }[];
  switched: number;
  /** Of what ended in that time: all attempts, and those that were the good end of it. */
  cost_usd: number;
  good_cost_usd: number;
}
export interface MorningReads {
  night: [{ from: number; to: number }, NightCounts];
  morning_sent: [{ day: string }, boolean];
}
