/**
 * Activities: executions and their tool calls as the timeline that older clients read. A view over the same rows, never a
 * second record (api.md): nothing here is stored, and what it says is what the rows say.
 */
import type { ExecutionStatus } from '../../contract/execution.ts';
import { iso, isoOrNull } from '../route.ts';
import type { FullExecution } from './execution.ts';
import { callMs, type ToolCall } from './transcript.ts';

export const activityTypes = [
  'chat_start',
  'task_start',
  'schedule_start',
  'tool_call',
  'agent_collaboration',
] as const;
type ActivityType = (typeof activityTypes)[number];
export const activityStates = ['started', 'completed', 'failed'] as const;
type ActivityState = (typeof activityStates)[number];

export interface ActivityBody {
  id: string;
  agent_name: string;
  activity_type: ActivityType;
  activity_state: ActivityState;
  started_at: string;
  completed_at: string | null;
  duration_ms: number | null;
  triggered_by: string;
  parent_activity_id: string | null;
  related_execution_id: string;
  error: string | null;
  details: Record<string, unknown>;
}

export const activityOf = (row: FullExecution): ActivityBody => ({
  id: row.id,
  agent_name: row.agent_name,
  activity_type: typeOf(row),
  activity_state: stateOf(row.status),
  started_at: iso(row.started_at ?? row.queued_at),
  completed_at: isoOrNull(row.completed_at),
  duration_ms: row.duration_ms,
  triggered_by: row.triggered_by,
  parent_activity_id: row.parent_execution_id,
  related_execution_id: row.id,
  error: row.error,
  details: {
    execution_id: row.id,
    status: row.status,
    cause: row.cause,
    message_preview: row.message.slice(0, 200).toWellFormed(),
    session_id: row.session_id,
    cost_usd: row.cost_usd,
    tool_calls: row.tool_calls,
  },
});

const typeOf = (row: FullExecution): ActivityType => {
  if (row.triggered_by === 'schedule') return 'schedule_start';
  if (row.triggered_by === 'agent' || row.triggered_by === 'fan_out') return 'agent_collaboration';
  return row.kind === 'chat' ? 'chat_start' : 'task_start';
};

const stateOf = (status: ExecutionStatus): ActivityState => {
  switch (status) {
    case 'queued':
    case 'running':
    case 'waiting':
      return 'started';
    case 'success':
    case 'skipped':
      return 'completed';
    case 'failed':
    case 'cancelled':
      return 'failed';
    default:
      return status satisfies never;
  }
};

export const toolActivityOf = (row: FullExecution, call: ToolCall): ActivityBody => ({
  id: call.id,
  agent_name: row.agent_name,
  activity_type: 'tool_call',
  activity_state:
    call.success === null ? (row.completed_at === null ? 'started' : 'failed') : call.success ? 'completed' : 'failed',
  started_at: call.started_at ?? iso(row.started_at ?? row.queued_at),
  completed_at: call.ended_at,
  duration_ms: callMs(call),
  triggered_by: row.triggered_by,
  parent_activity_id: row.id,
  related_execution_id: row.id,
  error: call.success === false ? call.output : null,
  details: { execution_id: row.id, tool_name: call.tool, input: call.input },
});
