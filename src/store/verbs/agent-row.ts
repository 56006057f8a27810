/** Between the agents table and `AgentRow`: JSON columns and bits, one place for both directions. */
import type { Insertable, Selectable } from 'kysely';
import type { AgentRow } from '../../contract/agent.ts';
import type { Agents } from '../schema.ts';

export const agentFrom = (r: Selectable<Agents>): AgentRow => ({
  id: r.id,
  name: r.name,
  owner_id: r.owner_id,
  adapter: r.adapter,
  type: r.type,
  model: r.model,
  workspace: r.workspace,
  executable: r.executable,
  command: r.command === null ? null : (JSON.parse(r.command) as string[]),
  base_url: r.base_url,
  env: JSON.parse(r.env) as Record<string, string>,
  cpu: r.cpu,
  memory_bytes: r.memory_bytes,
  max_parallel_tasks: r.max_parallel_tasks,
  max_backlog_depth: r.max_backlog_depth,
  timeout_s: r.timeout_s,
  stall_s: r.stall_s,
  custom_instructions: r.custom_instructions,
  permission_mode: r.permission_mode,
  allow_bypass_without_isolation: r.allow_bypass_without_isolation === 1,
  allowed_tools: r.allowed_tools === null ? null : (JSON.parse(r.allowed_tools) as string[]),
  workspace_mode: r.workspace_mode,
  pool: r.pool,
  tags: r.tags === '[]' ? [] : (JSON.parse(r.tags) as string[]),
  credential_id: r.credential_id,
  desired_state: r.desired_state,
  main_session_id: r.main_session_id,
  created_at: r.created_at,
  updated_at: r.updated_at,
});

export const agentInto = (a: AgentRow): Insertable<Agents> =>
  ({ ...columnsOf(a), deleted_at: null }) as Insertable<Agents>;

/** Only the columns that are present: also for patches. */
export const columnsOf = (a: Partial<AgentRow>): Record<string, string | number | null> => {
  const columns: Record<string, string | number | null> = {};
  for (const [name, value] of Object.entries(a))
    if (value !== undefined)
      columns[name] =
        typeof value === 'boolean'
          ? Number(value)
          : typeof value === 'object' && value !== null
            ? JSON.stringify(value)
            : value;
  return columns;
};
