/**
 * An agent as its body on the wire (api.md, "Agents"). Pure: whoever calls it has read what it shows. `status` says whether it
 * accepts work, never whether something runs: that is `running`, counted from rows.
 */
import { join } from 'node:path';
import { type AgentRow, inForce } from '../../contract/agent.ts';
import type { CredentialRow } from '../../contract/credential.ts';
import type { Principal } from '../../contract/principal.ts';
import type { RunnerRow, UserRow } from '../../store/rows.ts';
import type { ReadVerbs } from '../../store/store.ts';
import { iso } from '../route.ts';
import { isConnected } from './runner.ts';

interface AgentAround {
  home: string;
  principal: Principal;
  users: UserRow[];
  occupancy: ReadVerbs['occupancy'][1];
}

/** Where the runner of this home lets it work (runner/workspace): the directory it names, else one of its name. */
export const workspaceOf = (agent: AgentRow, home: string): string =>
  agent.workspace ?? join(home, 'workspaces', agent.name);

export const presentAgent = (a: AgentRow, around: AgentAround) => {
  const counts = around.occupancy.agents.find((o) => o.agent_id === a.id);
  return {
    name: a.name,
    status: a.desired_state,
    type: a.type ?? a.adapter,
    owner: around.users.find((u) => u.id === a.owner_id)?.username ?? null,
    is_owner: around.principal.kind === 'user' && around.principal.id === a.owner_id,
    is_shared: false,
    is_system: false,
    adapter: a.adapter,
    model: a.model,
    workspace: workspaceOf(a, around.home),
    pool: a.pool,
    tags: a.tags,
    max_parallel_tasks: inForce(a).max_parallel_tasks,
    running: counts?.running ?? 0,
    waiting: counts?.waiting ?? 0,
    queued: counts?.queued ?? 0,
    created: iso(a.created_at),
    created_at: iso(a.created_at),
    updated_at: iso(a.updated_at),
  };
};

interface AgentDetailAround extends AgentAround {
  credential: CredentialRow | null;
  runners: RunnerRow[];
  now: number;
}

export const presentAgentDetail = (a: AgentRow, around: AgentDetailAround) => ({
  ...presentAgent(a, around),
  shares: [] as string[],
  can_delete: around.principal.kind === 'user' && around.principal.role !== 'viewer',
  executable: a.executable,
  command: a.command,
  base_url: a.base_url,
  // Plain values, yet nobody's business but people's.
  env: around.principal.kind === 'user' ? a.env : {},
  resources: { cpu: a.cpu, memory_bytes: a.memory_bytes },
  custom_instructions: a.custom_instructions,
  permission_mode: a.permission_mode,
  allow_bypass_without_isolation: a.allow_bypass_without_isolation,
  allowed_tools: a.allowed_tools,
  workspace_mode: a.workspace_mode,
  credential: around.credential === null ? null : around.credential.name,
  stall_seconds: a.stall_s,
  limits: {
    max_parallel_tasks: { value: a.max_parallel_tasks, effective: inForce(a).max_parallel_tasks },
    max_backlog_depth: { value: a.max_backlog_depth, effective: inForce(a).max_backlog_depth },
    timeout_seconds: { value: a.timeout_s, effective: inForce(a).timeout_s },
  },
  health: {
    desired_state: a.desired_state,
    reachable: around.runners.some((r) => isConnected(r, around.now)),
    credential: around.credential?.state ?? null,
  },
});
