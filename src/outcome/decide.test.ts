/** What follows from a verdict: six causes are retried, within bounds, spread and repeatable; nothing that may switch is. */
import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { type Cause, causeNames, causes } from '../contract/causes.ts';
import type { Decision, Verdict } from '../contract/verdict.ts';
import { decide, retriedCauses } from './decide.ts';

const now = 1_796_000_000_000;

const verdict = (cause: Cause, more: Partial<Verdict> = {}): Verdict => ({
  cause,
  secondary: [],
  mechanism: null,
  confidence: 'proven',
  tier: null,
  evidence: [],
  retryable: true,
  switch_credential: false,
  reset_at: null,
  message: '',
  attention: [],
  ...more,
});

const context = {
  execution_id: 'e1',
  attempt: 1,
  max_retries: 2,
  now,
  cancel_requested: false,
  started: true,
  decided: [],
  login: null,
};

describe('decide', () => {
  it(verifies('R24')('retries the six passing causes and nothing else'), () => {
    const retried = causeNames.filter((cause) => decide(verdict(cause), context).kind === 'retry');
    expect(retried.sort()).toEqual([...retriedCauses].sort());
    expect(retried).toHaveLength(6);
  });

  it(verifies('R24')('never retries a cause that may switch credentials'), () => {
    for (const cause of causeNames.filter((c) => causes[c].switches))
      expect(decide(verdict(cause, { switch_credential: true }), context).kind).toBe('end');
  });

  it(verifies('R24')('stops after the retries it was given'), () => {
    const retried: Decision = { kind: 'retry', after_ms: 1, why: 'x' };
    const moved: Decision = { kind: 'switch', from: 'a', to: 'b', why: 'x' };
    const decidedAfter = (...decided: Decision[]) =>
      decide(verdict('overloaded'), { ...context, attempt: decided.length + 1, decided });
    expect(decidedAfter(retried).kind).toBe('retry');
    // Going on with another login is no retry.
    expect(decidedAfter(moved, retried).kind).toBe('retry');
    expect(decidedAfter(retried, moved, retried)).toEqual({ kind: 'end', status: 'failed' });
    expect(decide(verdict('overloaded'), { ...context, max_retries: 0 }).kind).toBe('end');
  });

  it('does not retry what the evidence calls hopeless', () => {
    expect(decide(verdict('agent_unreachable', { retryable: false }), context).kind).toBe('end');
  });

  it('spreads retries by a hash of the id, the same on replay', () => {
    const a = decide(verdict('overloaded'), context);
    expect(decide(verdict('overloaded'), context)).toEqual(a);
    expect(decide(verdict('overloaded'), { ...context, execution_id: 'e2' })).not.toEqual(a);
  });

  it('waits for the reset of a short throttle, and not for a long one', () => {
    const soon = decide(verdict('rate_limited', { reset_at: now + 120_000 }), context);
    expect(soon).toMatchObject({ kind: 'retry', after_ms: 120_000 });
    expect(decide(verdict('rate_limited', { reset_at: now + 3_600_000 }), context).kind).toBe('end');
  });

  it(verifies('R25')('never retries what somebody asked to stop'), () => {
    expect(decide(verdict('network_failure'), { ...context, cancel_requested: true })).toEqual({
      kind: 'end',
      status: 'failed',
    });
    expect(decide(verdict('agent_unreachable'), { ...context, cancel_requested: true, started: false })).toEqual({
      kind: 'end',
      status: 'cancelled',
    });
    expect(decide(verdict('success'), { ...context, cancel_requested: true })).toEqual({
      kind: 'end',
      status: 'success',
    });
  });

  it(verifies('R24')('starts again elsewhere when the host went away before a process existed'), () => {
    expect(decide(verdict('shutdown'), { ...context, started: false }).kind).toBe('retry');
    expect(decide(verdict('shutdown'), context).kind).toBe('end');
  });
});
