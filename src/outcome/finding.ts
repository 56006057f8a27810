/**
 * A finding: one thing that some facts prove or suggest. Each reader of evidence in this folder returns at most one; the
 * precedence in `diagnose.ts` picks the first decisive one and keeps the others as `secondary`. A value, never a sentence
 * to be parsed: `why` is for people.
 */
import type { Cause } from '../contract/causes.ts';

export interface Finding {
  cause: Cause;
  /** What decided, in words. */
  why: string;
  /** `structured`: the CLI said it in a field. `line`: a whole sentence that this CLI owns. Null: how the process ended. */
  tier: 'structured' | 'line' | null;
  confidence: 'proven' | 'likely' | 'unknown';
  /**
   * True only with proof that the model API spoke. Null: a wrapper, another language or a cut line names an S cause, so a
   * switch cannot be decided from this. Left out: false. Read only for S causes, and null also for `unknown`, `success`.
   */
  switches?: boolean | null;
  /** False lowers what the table of causes says. */
  retryable?: boolean;
  /**
   * A login that renews itself (cloud credentials, a key helper, a refresh token another process has just used): rotating
   * does nothing, trying again does. The one case where evidence raises `retryable`; it is never retried automatically.
   */
  renews?: boolean;
  reset_at?: number | null;
}

export interface Context {
  /** Wall clock for reset times without a date; null = not known, then those stay unknown. */
  now: number | null;
  /** The zone of clock times printed without one: that of the process. Null = not known, then those stay unknown. */
  zone: string | null;
}
