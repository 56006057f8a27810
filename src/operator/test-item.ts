/** The item that a test notification tells of: in no list, with nothing to do. */
import type { OperatorItemRow } from '../contract/operator.ts';

export const testItem = (now: number): OperatorItemRow => ({
  id: 'test',
  kind: 'alert',
  dedup_key: 'test',
  priority: 'low',
  title: 'Drover can reach you',
  evidence: ['This is a test; there is nothing to do.'],
  agent_name: null,
  execution_id: null,
  status: 'closed',
  count: 1,
  options: [],
  answer: null,
  note: null,
  answered_by: null,
  delivery: null,
  delivery_note: null,
  answer_execution_id: null,
  session_id: null,
  created_at: now,
  updated_at: now,
  last_at: now,
  acknowledged_at: null,
});
