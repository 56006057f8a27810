/** Agents on the wire: what the routes answer, and so what OpenAPI says. A field that is not here never leaves the server. */
import { z } from 'zod';
import { AdapterName, PermissionMode, WorkspaceMode } from './agent.ts';
import { CredentialState } from './credential.ts';

export const AgentBody = z.object({
  name: z.string(),
  status: z.enum(['running', 'stopped']),
  type: z.string().nullable(),
  owner: z.string().nullable(),
  is_owner: z.boolean(),
  is_shared: z.boolean(),
  is_system: z.boolean(),
  adapter: AdapterName,
  model: z.string().nullable(),
  workspace: z.string(),
  pool: z.string().nullable(),
  tags: z.array(z.string()),
  max_parallel_tasks: z.number(),
  running: z.number(),
  waiting: z.number(),
  queued: z.number(),
  created: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});

const Limit = z.object({ value: z.number().nullable(), effective: z.number() });

export const AgentDetailBody = AgentBody.extend({
  shares: z.array(z.string()),
  can_delete: z.boolean(),
  executable: z.string().nullable(),
  command: z.array(z.string()).nullable(),
  base_url: z.string().nullable(),
  env: z.record(z.string(), z.string()),
  resources: z.object({ cpu: z.number().nullable(), memory_bytes: z.number().nullable() }),
  custom_instructions: z.string().nullable(),
  permission_mode: PermissionMode.nullable(),
  allow_bypass_without_isolation: z.boolean(),
  allowed_tools: z.array(z.string()).nullable(),
  workspace_mode: WorkspaceMode.nullable(),
  credential: z.string().nullable(),
  /** Null = the limits by kind of docs/limits.md; 0 = none. */
  stall_seconds: z.number().nullable(),
  limits: z.object({ max_parallel_tasks: Limit, max_backlog_depth: Limit, timeout_seconds: Limit }),
  health: z.object({
    desired_state: z.enum(['running', 'stopped']),
    reachable: z.boolean(),
    credential: CredentialState.nullable(),
  }),
});
