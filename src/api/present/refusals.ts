/**
 * What existing clients read in `detail` of a refused submit (api.md, "Work"): an object for three of the refusals, the
 * message for all others. Takes the numbers the store gave with the refusal; invents none.
 */
import type { Refusal } from '../../contract/errors.ts';

type Numbers = Record<string, unknown>;

export const withWireDetail = (r: Refusal, agent: string): Refusal => {
  const known = (typeof r.details === 'object' && r.details !== null ? r.details : {}) as Numbers;
  switch (r.code) {
    case 'idempotency_conflict':
      return { ...r, detail: { error: r.code, message: r.message, execution_id: r.executionId ?? null } };
    case 'backlog_full': {
      const retryAfterMs = r.retryAfterMs ?? retryFullMs;
      return {
        ...r,
        retryAfterMs,
        detail: {
          error: r.code,
          agent,
          queue_length: known.queue_length ?? null,
          max_backlog_depth: known.max_backlog_depth ?? null,
          retry_after: Math.max(1, Math.ceil(retryAfterMs / 1000)),
          message: r.message,
        },
      };
    }
    case 'inter_agent_depth_exceeded':
      return {
        ...r,
        detail: { error: r.code, depth: known.depth ?? null, max_depth: known.max_depth ?? null, message: r.message },
      };
    default:
      return r;
  }
};

/** When the store cannot tell how fast the backlog shrinks: long enough not to hammer, short enough for a person. */
const retryFullMs = 30_000;
