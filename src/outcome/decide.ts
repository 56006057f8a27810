/**
 * verdict → what follows. Pure. Ends the execution, or queues it again: a retry of a passing trouble, or a park until a known
 * reset. Nothing is started twice unless no process was ever started, or the verdict and this policy both say retry (R24).
 * A cause that may switch credentials is never retried here: a retry would burn the same credential again.
 */
import { type Cause, causes } from '../contract/causes.ts';
import type { Decision, Verdict } from '../contract/verdict.ts';
import { hashedBackoff } from '../kernel/backoff.ts';

/** What passes by itself within minutes. Everything else waits for a person or a caller. */
export const retriedCauses: readonly Cause[] = [
  'overloaded',
  'api_server_error',
  'network_failure',
  'rate_limited',
  'malformed_response',
  'agent_unreachable',
];

/** A short throttle that names a reset further away than this is no short throttle: a person should see it. */
const longestWaitMs = 15 * 60_000;
/** A reset that has passed, or is just passing, is probed after this and not at once (CC#15064: resets come late). */
const probeMs = 30_000;

interface DecideContext {
  execution_id: string;
  /** Of the attempt that ended, from 1. */
  attempt: number;
  max_retries: number;
  /** Wall clock. */
  now: number;
  /** Somebody asked to stop the execution, whether or not that reached the process in time. */
  cancel_requested: boolean;
  /** A process of this attempt was started. */
  started: boolean;
}

export const decide = (verdict: Verdict, context: DecideContext): Decision => {
  if (verdict.cause === 'success') return { kind: 'end', status: 'success' };
  if (verdict.cause === 'cancelled') return { kind: 'end', status: 'cancelled' };
  if (context.cancel_requested) return { kind: 'end', status: context.started ? 'failed' : 'cancelled' };
  const tried = context.attempt - 1;
  const after = retryAfter(verdict, context);
  if (after === null || tried >= context.max_retries) return { kind: 'end', status: 'failed' };
  return { kind: 'retry', after_ms: after, why: `${verdict.cause}, retry ${tried + 1} of ${context.max_retries}` };
};

const retryAfter = (verdict: Verdict, context: DecideContext): number | null => {
  const { cause } = verdict;
  const backoff = hashedBackoff(context.execution_id, context.attempt);
  // The host went away before anything ran: another one may take it.
  if (!context.started && (cause === 'shutdown' || cause === 'runner_lost')) return backoff;
  if (!verdict.retryable || causes[cause].switches || !retriedCauses.includes(cause)) return null;
  if (verdict.reset_at === null) return backoff;
  const wait = verdict.reset_at - context.now;
  return wait > longestWaitMs ? null : Math.max(backoff, wait);
};

/**
 * Every credential the agent may use is limited: the work is parked until the earliest reset, at no cost to its queue budget
 * (R38). Null = cannot be parked, because no reset is known.
 */
export const park = (earliestResetAt: number | null, now: number): Decision | null =>
  earliestResetAt === null
    ? null
    : {
        kind: 'park',
        until: Math.max(earliestResetAt, now + probeMs),
        why: `every credential is limited until ${new Date(earliestResetAt).toISOString()}`,
      };
