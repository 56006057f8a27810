/** This fleet as a manifest that makes the same agents and schedules elsewhere: only what is not the default; never a credential. */
import type { AgentRow } from '../../contract/agent.ts';
import type { ScheduleRow } from '../../contract/schedule.ts';
import type { Fleet } from './plan.ts';

/** What is null, empty or false is the default and not written. */
const given = (o: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(o).filter(
      ([, v]) =>
        v !== null && v !== false && !(typeof v === 'object' && Object.values(v as object).every((x) => x == null)),
    ),
  );

export const exportManifest = (fleet: Fleet): object => ({
  version: 1,
  ...(fleet.limits.agent_call_limit_source === 'setting' || fleet.limits.queue_timeout_source === 'setting'
    ? {
        limits: {
          ...(fleet.limits.agent_call_limit_source === 'setting' && {
            agent_call_limit: fleet.limits.agent_call_limit,
          }),
          ...(fleet.limits.queue_timeout_source === 'setting' && { queue_timeout_s: fleet.limits.queue_timeout_s }),
        },
      }
    : {}),
  agents: fleet.agents.map((a) => agentOf(a, fleet)),
});

const agentOf = (a: AgentRow, fleet: Fleet): object => {
  const targets = fleet.permissions.get(a.id) ?? null;
  const schedules = fleet.schedules.filter((s) => s.agent_id === a.id).map(scheduleOf);
  return {
    name: a.name,
    ...given({
      adapter: a.adapter,
      type: a.type,
      model: a.model,
      workspace: a.workspace,
      executable: a.executable,
      command: a.command,
      base_url: a.base_url,
      env: a.env,
      resources: given({ cpu: a.cpu, memory: a.memory_bytes === null ? null : String(a.memory_bytes) }),
      max_parallel_tasks: a.max_parallel_tasks,
      max_backlog_depth: a.max_backlog_depth,
      timeout_seconds: a.timeout_s,
      stall_seconds: a.stall_s,
      custom_instructions: a.custom_instructions,
      permission_mode: a.permission_mode,
      allow_bypass_without_isolation: a.allow_bypass_without_isolation,
      allowed_tools: a.allowed_tools,
      workspace_mode: a.workspace_mode,
      pool: a.pool,
      tags: a.tags,
    }),
    ...(targets !== null && {
      permitted_agents: fleet.agents.filter((o) => targets.includes(o.id)).map((o) => o.name),
    }),
    ...(schedules.length > 0 && { schedules }),
  };
};

const scheduleOf = (s: ScheduleRow): object => ({
  name: s.name,
  cron_expression: s.cron_expression,
  timezone: s.timezone,
  message: s.message,
  ...(!s.enabled && { enabled: false }),
  overlap: s.overlap,
  catch_up: s.catch_up,
  ...given({
    description: s.description,
    jitter_seconds: s.jitter_s === 0 ? null : s.jitter_s,
    timeout_seconds: s.timeout_s,
    max_retries: s.max_retries,
    model: s.model,
  }),
});
