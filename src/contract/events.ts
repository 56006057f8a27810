/** Every change, in id order: what SSE carries and the screen reads. Small: ids and what changed, never texts. */
import { z } from 'zod';

export const eventTypes = [
  'execution.queued',
  'execution.claimed',
  'execution.started',
  'execution.waiting',
  'execution.resumed',
  'execution.requeued',
  'execution.cancel_requested',
  'execution.settled',
  'execution.silent',
  'execution.late_outcome',
  'execution.attention',
  'execution.skipped',
  'agent.created',
  'agent.changed',
  'agent.deleted',
  'limits.changed',
  'fleet.paused',
  'fleet.resumed',
  'runner.seen',
  'runner.lost',
  'credential.changed',
  'incident.opened',
  'incident.probing',
  'incident.reopening',
  'incident.closed',
  'budget.changed',
  'provider.paused',
  'provider.resumed',
  'schedule.changed',
  'credential.switched',
  'operator.opened',
  'operator.changed',
] as const;
export const EventType = z.enum(eventTypes);
export type EventType = z.infer<typeof EventType>;

export interface EventRow {
  /** Rises without holes that a reader could miss: taken in the transaction that made the change. */
  id: number;
  at: number;
  type: EventType;
  execution_id: string | null;
  agent_name: string | null;
  data: Record<string, unknown>;
}
