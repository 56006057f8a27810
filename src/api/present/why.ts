/**
 * "Why?": of a waiting row, the one limit that binds and its place; of an ended one, each decision with the evidence it was
 * made on, attempt by attempt. Every line is a stored fact or verdict; nothing is guessed here.
 */
import { type CauseRow, causes } from '../../contract/causes.ts';
import type { WaitInfo } from '../../contract/execution.ts';
import { isTerminal } from '../../contract/status.ts';
import { iso, isoOrNull } from '../route.ts';
import { type AttemptBody, type FullExecution, presentWait } from './execution.ts';

export const presentWhy = (row: FullExecution, wait: WaitInfo | null, attempts: readonly AttemptBody[]) => {
  const cause: CauseRow | null = row.cause === null ? null : causes[row.cause];
  return {
    execution_id: row.id,
    agent_name: row.agent_name,
    status: row.status,
    cause: row.cause,
    title: cause?.title ?? null,
    advice: cause?.advice ?? null,
    error: row.error,
    queued_at: iso(row.queued_at),
    started_at: isoOrNull(row.started_at),
    completed_at: isoOrNull(row.completed_at),
    queued_ms: row.queued_ms,
    not_before: isoOrNull(row.not_before),
    cancel_requested_at: isoOrNull(row.cancel_requested_at),
    silent: row.silent,
    wait: wait === null ? null : presentWait(wait),
    /** Milliseconds waited per reason, when a queue budget ended it. */
    wait_details: row.wait_details,
    attention: row.attention,
    attempts: attempts.map(explain),
    final: isTerminal(row.status),
  };
};

const explain = (a: AttemptBody) => ({
  id: a.id,
  number: a.number,
  runner_id: a.runner_id,
  credential_id: a.credential_id,
  claimed_at: a.claimed_at,
  begun_at: a.begun_at,
  started_at: a.started_at,
  ended_at: a.ended_at,
  late: a.late,
  cause: a.verdict?.cause ?? null,
  secondary: a.verdict?.secondary ?? [],
  mechanism: a.verdict?.mechanism ?? null,
  confidence: a.verdict?.confidence ?? null,
  evidence: a.verdict?.evidence ?? [],
  retryable: a.verdict?.retryable ?? null,
  switch_credential: a.verdict?.switch_credential ?? null,
  reset_at: isoOrNull(a.verdict?.reset_at ?? null),
  stop_reason: a.stop_reason,
  exit_code: a.exit_code,
  signal: a.signal,
  cost_usd: a.cost_usd,
  cost_estimated: a.cost_estimated,
  decision: a.decision === null ? null : presentDecision(a.decision),
});

const presentDecision = (d: NonNullable<AttemptBody['decision']>) => {
  switch (d.kind) {
    case 'end':
      return { kind: d.kind, status: d.status, ...(d.why !== undefined && { why: d.why }) };
    case 'retry':
      return { kind: d.kind, after_ms: d.after_ms, why: d.why };
    case 'switch':
      return { kind: d.kind, from: d.from, to: d.to, why: d.why };
    case 'park':
      return { kind: d.kind, until: iso(d.until), why: d.why };
    default:
      return d satisfies never;
  }
};
