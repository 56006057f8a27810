/** Agents: what a person writes (`AgentSpec`) and what the store keeps (`AgentRow`). */
import { z } from 'zod';
import { limits } from './limits.ts';

export const adapters = ['claude', 'codex', 'gemini', 'command', 'http'] as const;
export const AdapterName = z.enum(adapters);
export type AdapterName = z.infer<typeof AdapterName>;

export const permissionModes = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'] as const;
export const PermissionMode = z.enum(permissionModes);
export const workspaceModes = ['worktree', 'shared', 'copy'] as const;
export const WorkspaceMode = z.enum(workspaceModes);

/** Bytes from `384m`, `1.5g`, `512Mi`, `1048576`; null when it is not a size. */
export const parseBytes = (text: string): number | null => {
  const m = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*$/i.exec(text);
  if (!m) return null;
  const power = { '': 0, k: 1, m: 2, g: 3, t: 4 }[m[2]!.toLowerCase()]!;
  return Math.floor(Number(m[1]) * 1024 ** power);
};

const memory = z
  .string()
  .refine((s) => (parseBytes(s) ?? 0) >= 16 * 1024 * 1024, 'a size of at least 16m, for example "384m" or "2g"');

/** Environment names that carry a login: never accepted in an agent's `env` (R29). Routing names (`*_BASE_URL`) are fine. */
export const credentialEnvNames = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'OPENAI_API_KEY',
  'CODEX_API_KEY',
  'CODEX_ACCESS_TOKEN',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_BEARER_TOKEN_BEDROCK',
] as const;

const int = (l: { min: number; max: number }) => z.number().int().min(l.min).max(l.max);

export const AgentSpec = z.object({
  name: z.string().min(1).max(200),
  adapter: AdapterName.default('claude'),
  /** A free label. */
  type: z.string().max(100).nullish(),
  model: z.string().max(200).nullish(),
  /** A directory. Left out: one of its own under DROVER_HOME. */
  workspace: z.string().max(4096).nullish(),
  executable: z.string().max(4096).nullish(),
  /** Adapter `command`: argv. The message comes on stdin, stdout is the answer. */
  command: z.array(z.string().max(100_000)).min(1).max(1000).nullish(),
  /** Adapter `http`: where the service listens. */
  base_url: z.url({ protocol: /^https?$/ }).nullish(),
  /** Names and plain values, never secrets. */
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a name of letters, digits and _'), z.string().max(32_768))
    .default({}),
  resources: z
    .object({ cpu: z.union([z.number().positive(), z.string()]).nullish(), memory: memory.nullish() })
    .default({}),
  max_parallel_tasks: int(limits.maxParallelTasks).nullish(),
  max_backlog_depth: int(limits.maxBacklogDepth).nullish(),
  timeout_seconds: int(limits.timeoutS).nullish(),
  /** One limit for silence, whatever the run waits for; 0 = none. Left out: the limits of docs/limits.md. */
  stall_seconds: z
    .number()
    .int()
    .min(0)
    .max(limits.stallS.max)
    .refine((s) => s === 0 || s >= limits.stallS.min, `at least ${limits.stallS.min}, or 0 for no limit`)
    .nullish(),
  custom_instructions: z.string().max(100_000).nullish(),
  permission_mode: PermissionMode.nullish(),
  /** Names the risk: `permission_mode: bypassPermissions` without isolation needs it. */
  allow_bypass_without_isolation: z.boolean().nullish(),
  allowed_tools: z.array(z.string().max(500)).max(200).nullish(),
  workspace_mode: WorkspaceMode.nullish(),
  pool: z.string().max(100).nullish(),
  /** Free words by which costs are told apart: a team, a project. */
  tags: z
    .array(
      z
        .string()
        .trim()
        .min(1)
        .max(60)
        .regex(/^[^,\n]+$/, 'no comma and no line break'),
    )
    .max(20)
    .nullish(),
});
export type AgentSpec = z.infer<typeof AgentSpec>;

/** What may be changed later: fields that are left out stay, null goes back to the default. No default may creep in here. */
export const AgentPatch = AgentSpec.omit({ name: true })
  .extend({
    adapter: AdapterName,
    env: AgentSpec.shape.env.removeDefault(),
    resources: AgentSpec.shape.resources.removeDefault(),
  })
  .partial();
export type AgentPatch = z.infer<typeof AgentPatch>;

export interface AgentRow {
  id: string;
  name: string;
  owner_id: string;
  adapter: AdapterName;
  type: string | null;
  model: string | null;
  workspace: string | null;
  executable: string | null;
  command: string[] | null;
  base_url: string | null;
  env: Record<string, string>;
  cpu: number | null;
  memory_bytes: number | null;
  /** Null = the default, 3. */
  max_parallel_tasks: number | null;
  max_backlog_depth: number | null;
  timeout_s: number | null;
  /** Null = the limits by kind; 0 = none. */
  stall_s: number | null;
  custom_instructions: string | null;
  permission_mode: z.infer<typeof PermissionMode> | null;
  allow_bypass_without_isolation: boolean;
  allowed_tools: string[] | null;
  workspace_mode: z.infer<typeof WorkspaceMode> | null;
  pool: string | null;
  tags: string[];
  /** Assigned by a person; null = lent from the pool or by kind. */
  credential_id: string | null;
  desired_state: 'running' | 'stopped';
  main_session_id: string | null;
  created_at: number;
  updated_at: number;
}

/** What holds for an agent: its own values, else the defaults. */
export const inForce = (
  a: Pick<AgentRow, 'max_parallel_tasks' | 'max_backlog_depth' | 'timeout_s' | 'permission_mode'>,
) => ({
  max_parallel_tasks: a.max_parallel_tasks ?? limits.maxParallelTasks.default,
  max_backlog_depth: a.max_backlog_depth ?? limits.maxBacklogDepth.default,
  timeout_s: a.timeout_s ?? limits.timeoutS.default,
  permission_mode: a.permission_mode ?? 'acceptEdits',
});
