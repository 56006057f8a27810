/**
 * verdict → what follows. Pure. Ends the execution, or queues it again: a retry of a passing trouble, another login, or a wait for a
 * known reset. Nothing is started twice unless no process was ever started, or the verdict and this policy both say retry (R24).
 * A cause that may switch credentials is never retried as it was: a retry would burn the same credential again.
 */
import { type Cause, causes } from '../contract/causes.ts';
import type { LoginView } from '../contract/login-view.ts';
import type { Decision, Verdict } from '../contract/verdict.ts';
import { hashedBackoff } from '../kernel/backoff.ts';
import { loginDecision } from './login.ts';

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
  /** After its earlier attempts: only retries count as retries. */
  decided: readonly Decision[];
  /** Where the verdict blames a login. */
  login: LoginView | null;
}

export const decide = (verdict: Verdict, context: DecideContext): Decision => {
  if (verdict.cause === 'success') return { kind: 'end', status: 'success' };
  if (verdict.cause === 'cancelled') return { kind: 'end', status: 'cancelled' };
  if (context.cancel_requested) return { kind: 'end', status: context.started ? 'failed' : 'cancelled' };
  const login = context.login === null ? null : loginDecision(verdict, context.login, context);
  if (login !== null) return login;
  const tried = context.decided.filter((d) => d.kind === 'retry').length;
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
