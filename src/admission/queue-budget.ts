/**
 * The queue budget of a row (R12): how long it may wait for limits. Work that somebody holds a connection for gets
 * BACKEND_AGENT_CALL_QUEUE_TIMEOUT_S; durable work gets DROVER_DURABLE_QUEUE_TIMEOUT_S, unless only the first one was set by
 * hand: then the operator meant it for all.
 */
import { limits } from '../contract/limits.ts';
import type { FleetLimits } from '../store/rows.ts';

/** ms, or null = for ever. `durableS` null = not set by hand. */
export const queueBudgetMs = (
  durable: boolean,
  fleet: Pick<FleetLimits, 'queue_timeout_s' | 'queue_timeout_source'>,
  durableS: number | null,
): number | null => {
  const seconds =
    durable && (durableS !== null || fleet.queue_timeout_source === 'default')
      ? (durableS ?? limits.durableQueueTimeoutS.default)
      : fleet.queue_timeout_s;
  return seconds === 0 ? null : seconds * 1000;
};
