/**
 * What a person writes about an agent → what the store keeps, or a typed no that says what to do. Nothing is made or changed
 * here: a workspace of a person's choosing must exist, Drover makes only its own.
 */
import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { type AgentPatch, type AgentRow, type AgentSpec, credentialEnvNames, parseBytes } from '../contract/agent.ts';
import { errors, type Refusal, refuse } from '../contract/errors.ts';
import { cleanName } from '../contract/names.ts';
import { cleanText } from '../contract/text.ts';

/** Does every runner hold its processes apart from the server's user? Then bypassing permissions needs no override. */
interface Surroundings {
  isolated: boolean;
}

export type AgentColumns = Partial<Omit<AgentRow, 'id' | 'name' | 'owner_id' | 'created_at'>>;

export const admitAgent = async (
  spec: AgentSpec,
  made: { id: string; owner_id: string; now: number },
  around: Surroundings,
): Promise<AgentRow | Refusal> => {
  const name = cleanName(spec.name);
  if (name === '')
    return field('name', `${JSON.stringify(cleanText(spec.name))} has no letter or digit that a name could be made of`);
  const row: AgentRow = {
    ...empty,
    ...columnsOf(spec),
    id: made.id,
    name,
    owner_id: made.owner_id,
    created_at: made.now,
    updated_at: made.now,
  };
  return (await problemOf(row, around)) ?? row;
};

/** The columns that change. Checked together with those that stay: `adapter: http` alone needs the base_url of before. */
export const admitPatch = async (
  agent: AgentRow,
  patch: AgentPatch,
  around: Surroundings,
): Promise<AgentColumns | Refusal> => {
  const columns = columnsOf(patch);
  return (await problemOf({ ...agent, ...columns }, around, patch)) ?? columns;
};

const empty: Omit<AgentRow, 'id' | 'name' | 'owner_id' | 'created_at' | 'updated_at'> = {
  adapter: 'claude',
  type: null,
  model: null,
  workspace: null,
  executable: null,
  command: null,
  base_url: null,
  env: {},
  cpu: null,
  memory_bytes: null,
  max_parallel_tasks: null,
  max_backlog_depth: null,
  timeout_s: null,
  stall_s: null,
  custom_instructions: null,
  permission_mode: null,
  allow_bypass_without_isolation: false,
  allowed_tools: null,
  workspace_mode: null,
  pool: null,
  tags: [],
  credential_id: null,
  desired_state: 'running',
  main_session_id: null,
};

/** Only what was given; `undefined` leaves a column as it is. */
const columnsOf = (s: AgentPatch): AgentColumns => {
  const all: AgentColumns = {
    adapter: s.adapter,
    type: s.type,
    model: s.model,
    workspace: s.workspace,
    executable: s.executable,
    command: s.command,
    base_url: s.base_url,
    env: s.env,
    cpu: s.resources === undefined ? undefined : cpuOf(s.resources.cpu ?? null),
    memory_bytes:
      s.resources === undefined ? undefined : s.resources.memory == null ? null : parseBytes(s.resources.memory),
    max_parallel_tasks: s.max_parallel_tasks,
    max_backlog_depth: s.max_backlog_depth,
    timeout_s: s.timeout_seconds,
    stall_s: s.stall_seconds,
    custom_instructions: s.custom_instructions == null ? s.custom_instructions : cleanText(s.custom_instructions),
    permission_mode: s.permission_mode,
    allow_bypass_without_isolation:
      s.allow_bypass_without_isolation === undefined ? undefined : s.allow_bypass_without_isolation === true,
    allowed_tools: s.allowed_tools,
    workspace_mode: s.workspace_mode,
    // A pool without a name would be one that nothing can be put into.
    pool: s.pool == null ? s.pool : s.pool.trim() || null,
    tags: s.tags === undefined ? undefined : [...new Set(s.tags ?? [])].sort(),
  };
  return Object.fromEntries(Object.entries(all).filter(([, v]) => v !== undefined)) as AgentColumns;
};

/** Cores: `2`, `"0.5"`, `"500m"`; NaN when it is not a number of cores. */
const cpuOf = (cpu: number | string | null): number | null => {
  if (cpu === null || typeof cpu === 'number') return cpu;
  const m = /^\s*(\d+(?:\.\d+)?)(m?)\s*$/.exec(cpu);
  return m ? Number(m[1]) / (m[2] === 'm' ? 1000 : 1) : Number.NaN;
};

const field = (name: string, problem: string): Refusal =>
  refuse('invalid', `${name}: ${problem}.`, { details: [{ field: name, problem }] });

/** `changed`: what a patch gives; a workspace that was fine once is not looked at again for another field. */
const problemOf = async (row: AgentRow, around: Surroundings, changed?: AgentPatch): Promise<Refusal | null> => {
  const secrets = Object.keys(row.env).filter((n) => (credentialEnvNames as readonly string[]).includes(n));
  if (secrets.length > 0)
    return refuse(
      'credential_in_env',
      `${secrets.join(', ')}: a login does not belong into the env of an agent. ${errors.credential_in_env.hint}`,
      { details: secrets.map((name) => ({ field: `env.${name}`, problem: 'carries a credential' })) },
    );
  for (const [name, text] of programTexts(row))
    if (text.includes('\0')) return field(name, 'holds a NUL byte, which no program can be given');
  if (row.model !== null && /^\s*-/.test(row.model)) return field('model', 'must not begin with "-"');
  if (row.allowed_tools?.some((t) => /^\s*-/.test(t))) return field('allowed_tools', 'must not begin with "-"');
  if (row.cpu !== null && !(row.cpu > 0))
    return field('resources.cpu', 'needs a number of cores, such as 2, "0.5" or "500m"');
  if (row.adapter === 'command' && row.command === null)
    return field('command', 'the adapter command needs it: the program and its arguments, as a list');
  if (row.adapter === 'http' && row.base_url === null)
    return field('base_url', 'the adapter http needs it: where the agent’s service listens');
  if (row.permission_mode === 'bypassPermissions' && !row.allow_bypass_without_isolation && !around.isolated)
    return field(
      'permission_mode',
      'bypassPermissions lets the agent do anything that the user of its runner may, and nothing isolates it here. Set allow_bypass_without_isolation (--allow-bypass-without-isolation) if that is what you want',
    );
  return row.workspace === null || (changed !== undefined && changed.workspace === undefined)
    ? null
    : workspaceProblem(row.workspace);
};

const programTexts = (row: AgentRow): [string, string][] => [
  ...(row.executable === null ? [] : [['executable', row.executable] as [string, string]]),
  ...(row.workspace === null ? [] : [['workspace', row.workspace] as [string, string]]),
  ...(row.model === null ? [] : [['model', row.model] as [string, string]]),
  ...(row.command ?? []).map((t): [string, string] => ['command', t]),
  ...Object.entries(row.env).map(([n, v]): [string, string] => [`env.${n}`, v]),
];

const workspaceProblem = async (path: string): Promise<Refusal | null> => {
  if (!isAbsolute(path)) return field('workspace', 'needs an absolute path');
  const found = await stat(path).catch((e: NodeJS.ErrnoException) => e.code ?? 'unknown');
  const why =
    typeof found !== 'string'
      ? found.isDirectory()
        ? null
        : 'is not a directory'
      : found === 'EACCES'
        ? 'cannot be reached by the user of this server'
        : 'does not exist';
  if (why === null) return null;
  return refuse('workspace_missing', `The workspace ${path} ${why}. ${errors.workspace_missing.hint}`, {
    details: [{ field: 'workspace', problem: why }],
  });
};
