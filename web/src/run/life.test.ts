import { describe, expect, it } from 'vitest';
import type { AttemptBody, ExecutionBody } from '../../../src/client/wire.ts';
import { lifeOf } from './life.ts';

const at = (s: number) => new Date(1_760_000_000_000 + s * 1000).toISOString();
const row = (o: Partial<ExecutionBody>): ExecutionBody =>
  ({ queued_at: at(0), triggered_by: 'cli', status: 'running', duration_ms: null, cause: null, ...o }) as ExecutionBody;
const attempt = (o: Partial<AttemptBody>): AttemptBody =>
  ({
    number: 1,
    runner_id: 'r1',
    claimed_at: at(1),
    started_at: null,
    ended_at: null,
    decision: null,
    verdict: null,
    late: false,
    ...o,
  }) as AttemptBody;
const told = (r: ExecutionBody) =>
  lifeOf(
    r,
    (c) => c ?? 'none',
    (id) => (id === 'r1' ? 'box' : null),
  ).map((m) => [m.what, m.more]);

describe('the life of a run', () => {
  it('tells what was measured and nothing else', () => {
    expect(told(row({ attempts: [attempt({})] }))).toEqual([
      ['Queued', 'by the command line'],
      ['Claimed', 'by the runner of box'],
    ]);
  });

  it('numbers attempts only when there are several, and says why it was tried again', () => {
    const r = row({
      status: 'success',
      completed_at: at(60),
      duration_ms: 9_900,
      queued_ms: 21_000,
      attempts: [
        attempt({
          started_at: at(2),
          ended_at: at(10),
          verdict: { cause: 'overloaded' } as AttemptBody['verdict'],
          decision: { kind: 'retry', after_ms: 5_000, why: 'the provider was overloaded' },
        }),
        attempt({
          number: 2,
          claimed_at: at(15),
          started_at: at(16),
          ended_at: at(60),
          decision: { kind: 'end', status: 'success' },
        }),
      ],
    });
    expect(told(r)).toEqual([
      ['Queued', 'by the command line'],
      ['Attempt 1 claimed', 'by the runner of box'],
      ['Attempt 1 started', ''],
      ['Attempt 1 failed: overloaded', 'tried again after 5s: the provider was overloaded'],
      ['Attempt 2 claimed', 'by the runner of box'],
      ['Attempt 2 started', ''],
      ['Ended: success', 'ran 9.9s, waited 21s'],
    ]);
  });

  it('keeps a late outcome apart from the ending that counts', () => {
    const r = row({
      status: 'failed',
      cause: 'runner_lost',
      completed_at: at(50),
      attempts: [
        attempt({
          started_at: at(2),
          ended_at: at(90),
          late: true,
          verdict: { cause: 'success' } as AttemptBody['verdict'],
        }),
      ],
    });
    expect(told(r).slice(-2)).toEqual([
      ['Ended: runner_lost', ''],
      ['ended late', 'success; the state stays'],
    ]);
  });
});
