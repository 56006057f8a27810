/**
 * The queue budget of a row (R12): how long it may wait for limits. Work that somebody holds a connection for gets
 * BACKEND_AGENT_CALL_QUEUE_TIMEOUT_S; durable work gets DROVER_DURABLE_QUEUE_TIMEOUT_S, unless only the first one was set by
 * hand: then the operator meant it for all.
 */
import { limits } from '../contract/limits.ts';

interface BudgetSettings {
  queueTimeoutS: number;
  /** False while it is the built-in default. */
  queueTimeoutSetByHand: boolean;
  /** Null = not set by hand. */
  durableQueueTimeoutS: number | null;
}

/** ms, or null = for ever. */
export const queueBudgetMs = (durable: boolean, s: BudgetSettings): number | null => {
  const seconds =
    durable && (s.durableQueueTimeoutS !== null || !s.queueTimeoutSetByHand)
      ? (s.durableQueueTimeoutS ?? limits.durableQueueTimeoutS.default)
      : s.queueTimeoutS;
  return seconds === 0 ? null : seconds * 1000;
};
