import { describe, expect, it } from 'vitest';
import { anAttempt, anExecution, aVerdict } from '../../../test/support/rows.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { emptyFacts } from '../../contract/facts.ts';
import { presentAttempt, presentExecution } from './execution.ts';
import { presentWhy } from './why.ts';

describe('an execution on the wire', () => {
  it(verifies('R7')('has ISO times, and null for what was not measured'), () => {
    expect(presentExecution(anExecution({ status: 'queued', started_at: null }))).toMatchObject({
      id: '01abc',
      agent_name: 'writer',
      status: 'queued',
      queued_at: '2025-10-09T08:53:20.000Z',
      started_at: null,
      completed_at: null,
      duration_ms: null,
      cost: null,
      cause: null,
      verdict: null,
      secondary: [],
      attention: [],
      wait: null,
    });
  });

  it(
    verifies('R6')('shows waiting as running with a phase to pollers that do not know it, and as it is to the rest'),
    () => {
      const row = anExecution({ status: 'waiting' });
      expect(presentExecution(row, { oldStatus: true })).toMatchObject({ status: 'running', phase: 'waiting' });
      expect(presentExecution(row)).toMatchObject({ status: 'waiting', phase: 'waiting' });
      expect(presentExecution(anExecution(), { oldStatus: true })).toMatchObject({ status: 'running', phase: null });
    },
  );

  it('tells a silent run and one that is being stopped from a running one', () => {
    expect(presentExecution(anExecution({ silent: true })).phase).toBe('silent');
    expect(presentExecution(anExecution({ cancel_requested_at: 1 })).phase).toBe('stopping');
    expect(presentExecution(anExecution({ status: 'failed', silent: true })).phase).toBeNull();
  });

  it(verifies('R11')('shows why it waits and where it stands'), () => {
    const wait = {
      reason: 'fleet_cap' as const,
      position: 3,
      lanes_ahead: 1,
      since: 1_760_000_000_000,
      until: null,
      about: null,
    };
    expect(presentExecution(anExecution({ status: 'queued' }), { wait }).wait).toEqual({
      reason: 'fleet_cap',
      position: 3,
      lanes_ahead: 1,
      since: '2025-10-09T08:53:20.000Z',
      until: null,
      about: null,
    });
  });

  it(verifies('R41')('says of a cost that was summed from the stream that it is estimated'), () => {
    const base = emptyFacts('claude');
    const of = (cost_usd: number | null, stream: Partial<typeof base.stream>) =>
      presentAttempt(anAttempt({ cost_usd }), { ...base, stream: { ...base.stream, ...stream } });
    const [told, summed, none] = [
      of(0.5, { cost_usd: 0.5 }),
      of(0.5, { cost_usd: null }),
      of(null, { cost_usd: null }),
    ];
    expect([told, summed, none].map((a) => a.cost_estimated)).toEqual([false, true, false]);
    expect(presentExecution(anExecution(), { attempts: [told, summed] })).toMatchObject({ cost_estimated: true });
    expect(presentExecution(anExecution(), { attempts: [told] })).toMatchObject({ cost_estimated: false });
    expect(presentWhy(anExecution(), null, [summed]).attempts[0]).toMatchObject({
      cost_usd: 0.5,
      cost_estimated: true,
    });
  });

  it('gives each attempt the facts a person looks for, and nothing it does not know', () => {
    const facts = { ...emptyFacts('claude'), exit_code: null, signal: 'SIGKILL', pid: 7 };
    expect(presentAttempt(anAttempt({ ended_at: 1_760_000_002_000 }), facts)).toMatchObject({
      number: 1,
      signal: 'SIGKILL',
      exit_code: null,
      pid: 7,
      denied_tools: [],
      ended_at: '2025-10-09T08:53:22.000Z',
    });
    expect(presentAttempt(anAttempt(), null)).toMatchObject({ signal: null, pid: null, ended_at: null });
  });

  it('explains an ending by its stored decisions', () => {
    const verdict = aVerdict({ cause: 'overloaded', evidence: ['529 from the API'], retryable: true });
    const first = presentAttempt(
      anAttempt({ verdict, decision: { kind: 'retry', after_ms: 5_000, why: 'overloaded' } }),
      null,
    );
    const last = presentAttempt(anAttempt({ number: 2, verdict, decision: { kind: 'end', status: 'failed' } }), null);
    const why = presentWhy(anExecution({ status: 'failed', cause: 'overloaded' }), null, [first, last]);
    expect(why).toMatchObject({ final: true, cause: 'overloaded', title: 'The provider is overloaded', wait: null });
    expect(why.attempts.map((a) => a.decision)).toEqual([
      { kind: 'retry', after_ms: 5_000, why: 'overloaded' },
      { kind: 'end', status: 'failed' },
    ]);
    expect(why.attempts[0]!.evidence).toEqual(['529 from the API']);
  });
});
