import { describe, expect, it } from 'vitest';
import { anExecution, aVerdict } from '../../../test/support/rows.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { causeNames, causes } from '../../contract/causes.ts';
import { presentAccepted, presentAnswer, presentEnding } from './answer.ts';

const now = 1_760_000_000_000;
const failed = (over: Parameters<typeof anExecution>[0]) =>
  presentEnding(anExecution({ status: 'failed', ...over }), now);

describe('the answer of a call that waited', () => {
  it('has the agent’s words, the numbers of the run and the id', () => {
    const row = anExecution({
      status: 'success',
      kind: 'chat',
      response: 'done',
      cost_usd: 0.02,
      duration_ms: 900,
      turns: 2,
      input_tokens: 10,
      output_tokens: 5,
      completed_at: now,
    });
    expect(presentAnswer(row, [{ type: 'assistant' }], { position: 1 })).toMatchObject({
      response: 'done',
      session_id: 's1',
      timestamp: '2025-10-09T08:53:20.000Z',
      task_execution_id: '01abc',
      metadata: { cost_usd: 0.02, duration_ms: 900, num_turns: 2, input_tokens: 10, output_tokens: 5 },
      execution_log: [{ type: 'assistant' }],
      execution: { id: '01abc', queue_status: 'running', was_queued: false },
    });
  });

  it('gives a task the session that resume_session_id takes', () => {
    const row = anExecution({ status: 'success', cli_session_id: 'cli-1' });
    expect(presentAnswer(row, [], { position: 1 }).session_id).toBe('cli-1');
    expect(presentAnswer(anExecution({ ...row, kind: 'chat' }), [], { position: 1 }).session_id).toBe('s1');
  });

  it('says whether it was queued: by its place, or by a wait that a person notices', () => {
    const at = (position: number, queued_ms: number) =>
      presentAnswer(anExecution({ status: 'success', queued_ms }), [], { position }).execution;
    expect(at(3, 10)).toMatchObject({ queue_status: 'queued:3', was_queued: true });
    expect(at(1, 10)).toMatchObject({ queue_status: 'running', was_queued: false });
    expect(at(1, 2_000)).toMatchObject({ queue_status: 'running', was_queued: true });
    expect(presentAccepted(anExecution({ status: 'queued' }), 'do it', { position: 2 })).toMatchObject({
      status: 'queued',
      execution_id: '01abc',
      agent_name: 'writer',
      message: 'do it',
      async_mode: true,
    });
  });
});

describe('the answer of a call whose execution did not succeed', () => {
  it(verifies('R37')('has the status, code and short code of its cause, for every cause there is'), () => {
    for (const cause of causeNames.filter((c) => c !== 'success')) {
      const e = failed({ cause, error: `it was ${cause}` });
      expect(e).toMatchObject({
        status: causes[cause].status,
        code: cause,
        short: causes[cause].short,
        message: `it was ${cause}`,
        executionId: '01abc',
      });
      expect(e.status).toBeGreaterThanOrEqual(400);
    }
    expect(failed({ cause: 'success' }).status).toBeGreaterThanOrEqual(400);
    expect(failed({ cause: null }).code).toBe('unknown');
  });

  it(
    verifies('R13', 'D1')('keeps the exact text of a spent queue budget, with its type and the wait per reason'),
    () => {
      const text = 'Backend call budget exhausted for writer after 2000ms (agent_cap=3, global_cap=2)';
      expect(failed({ cause: 'call_budget_exhausted', error: text, wait_details: { fleet_cap: 2_000 } })).toMatchObject(
        {
          status: 503,
          short: 'capacity',
          message: text,
          retryable: true,
          details: { type: 'BackendAgentCallBudgetExhausted', wait_details: { fleet_cap: 2_000 } },
        },
      );
    },
  );

  it(verifies('R37')('answers a killed and a timed-out run with 504'), () => {
    for (const cause of ['oom_killed', 'killed_unknown', 'timed_out', 'memory_limit'] as const)
      expect(failed({ cause }).status).toBe(504);
  });

  it(verifies('R37')('lets evidence lower retryable and never raise it'), () => {
    expect(failed({ cause: 'overloaded', verdict: aVerdict({ retryable: false }) }).retryable).toBe(false);
    expect(failed({ cause: 'overloaded', verdict: aVerdict({ retryable: true }) }).retryable).toBe(true);
    expect(failed({ cause: 'auth_failed', verdict: aVerdict({ retryable: true }) }).retryable).toBe(false);
  });

  it('names the distance to a reset that is known and still to come', () => {
    const at = (reset_at: number | null) =>
      failed({ cause: 'usage_limit', verdict: aVerdict({ reset_at }) }).retryAfterMs;
    expect(at(now + 60_000)).toBe(60_000);
    expect(at(now - 1)).toBeNull();
    expect(at(null)).toBeNull();
  });

  it('says what happened and what to do when the row has no text', () => {
    expect(failed({ cause: 'spawn_not_found' }).message).toBe(
      'The program was not found. Install it, or set executable of the agent to its full path.',
    );
  });
});
