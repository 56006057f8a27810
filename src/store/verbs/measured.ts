/** Durations that were measured, or null: never a negative one, never one that only a jump of a clock explains (drill 35). */
import type { Facts } from '../../contract/facts.ts';

/** A run clock is at most 24 h; above 24 days (2^31 ms) a difference of wall clocks is no measurement. */
const most = 24 * 86_400_000;

/** Waits have no upper bound. */
export const notNegative = (ms: number): number | null => (Number.isFinite(ms) && ms >= 0 ? Math.round(ms) : null);

const plausible = (ms: number): number | null => (ms > most ? null : notNegative(ms));

/** By the monotonic clock of the runner when it kept it, else by the wall clock at spawn and end. */
export const durationMs = (facts: Facts): number | null =>
  facts.run_ms !== null
    ? plausible(facts.run_ms + (facts.waiting_ms ?? 0))
    : facts.spawned_at !== null && facts.ended_at !== null
      ? plausible(facts.ended_at - facts.spawned_at)
      : null;
