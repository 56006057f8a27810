/** From the attempts table to what leaves the store: never the token. */
import type { Selectable } from 'kysely';
import type { AttemptRow } from '../../contract/execution.ts';
import type { Decision, Verdict } from '../../contract/verdict.ts';
import type { Attempts } from '../schema.ts';

export const attemptFrom = (r: Selectable<Attempts>): AttemptRow => ({
  id: r.id,
  execution_id: r.execution_id,
  number: r.number,
  runner_id: r.runner_id,
  credential_id: r.credential_id,
  claimed_at: r.claimed_at,
  begun_at: r.begun_at,
  started_at: r.started_at,
  ended_at: r.ended_at,
  verdict: r.verdict === null ? null : (JSON.parse(r.verdict) as Verdict),
  decision: r.decision === null ? null : (JSON.parse(r.decision) as Decision),
  late: r.late === 1,
  cost_usd: r.cost_usd,
});
