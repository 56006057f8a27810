/**
 * Flags → fields of AgentSpec. Only what was given is in the result, so that `set` changes nothing else. Paths are made
 * absolute here, where the person's directory is known. Values are checked by the server, which knows all the rules.
 */
import { resolve } from 'node:path';
import type { AgentSpec } from '../../contract/agent.ts';
import { usage } from '../failure.ts';

export interface SpecFlags {
  adapter?: AgentSpec['adapter'];
  type?: string;
  model?: string;
  workspace?: string;
  executable?: string;
  baseUrl?: string;
  env?: string[];
  memory?: string;
  cpu?: string;
  maxParallel?: number;
  maxBacklog?: number;
  timeout?: number;
  stall?: number;
  instructions?: string;
  permissionMode?: NonNullable<AgentSpec['permission_mode']>;
  allowBypassWithoutIsolation?: boolean;
  allowTool?: string[];
  workspaceMode?: NonNullable<AgentSpec['workspace_mode']>;
  pool?: string;
  tag?: string[];
}

type SpecPatch = Partial<Omit<AgentSpec, 'name'>>;

const envOf = (pairs: string[]): Record<string, string> =>
  Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw usage(`--env needs NAME=VALUE, not ${JSON.stringify(pair)}.`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );

/** A name stays a name, to be found in PATH; anything with a slash is a path. */
const program = (text: string, cwd: string): string => (text.includes('/') ? resolve(cwd, text) : text);

export const specOf = (flags: SpecFlags, command: string[], cwd: string): SpecPatch => {
  if (command.length > 0 && flags.adapter !== undefined && flags.adapter !== 'command')
    throw usage(
      `A command after -- is for --adapter command, not ${flags.adapter}.`,
      'Leave --adapter out, or name the program of the CLI with --executable.',
    );
  const resources = {
    ...(flags.memory === undefined ? {} : { memory: flags.memory }),
    ...(flags.cpu === undefined ? {} : { cpu: flags.cpu }),
  };
  const all: SpecPatch = {
    adapter: command.length > 0 ? 'command' : flags.adapter,
    type: flags.type,
    model: flags.model,
    workspace: flags.workspace === undefined ? undefined : resolve(cwd, flags.workspace),
    executable: flags.executable === undefined ? undefined : program(flags.executable, cwd),
    command: command.length > 0 ? [program(command[0]!, cwd), ...command.slice(1)] : undefined,
    base_url: flags.baseUrl,
    env: flags.env === undefined ? undefined : envOf(flags.env),
    resources: Object.keys(resources).length === 0 ? undefined : resources,
    max_parallel_tasks: flags.maxParallel,
    max_backlog_depth: flags.maxBacklog,
    timeout_seconds: flags.timeout,
    stall_seconds: flags.stall,
    custom_instructions: flags.instructions,
    permission_mode: flags.permissionMode,
    allow_bypass_without_isolation: flags.allowBypassWithoutIsolation,
    allowed_tools: flags.allowTool,
    workspace_mode: flags.workspaceMode,
    pool: flags.pool,
    tags: flags.tag,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
};

/** Flags of `set` whose field can go back to its default, by the flag's name. */
const clearable = {
  type: 'type',
  model: 'model',
  workspace: 'workspace',
  executable: 'executable',
  'base-url': 'base_url',
  'max-parallel': 'max_parallel_tasks',
  'max-backlog': 'max_backlog_depth',
  timeout: 'timeout_seconds',
  stall: 'stall_seconds',
  instructions: 'custom_instructions',
  'permission-mode': 'permission_mode',
  'allow-bypass-without-isolation': 'allow_bypass_without_isolation',
  'allow-tool': 'allowed_tools',
  'workspace-mode': 'workspace_mode',
  pool: 'pool',
  tag: 'tags',
} as const satisfies Record<string, keyof SpecPatch>;

export interface Present {
  env: Record<string, string>;
  resources: { cpu: number | null; memory_bytes: number | null };
}

/** What `set` sends: `env` and `resources` travel whole, so what they hold now is kept unless a flag or --clear names it. */
export const patchOf = (
  flags: SpecFlags,
  clear: string[],
  command: string[],
  cwd: string,
  present: Present,
): SpecPatch => {
  const patch = specOf(flags, command, cwd);
  const names = [...Object.keys(clearable), 'env', 'memory', 'cpu'];
  for (const name of clear) {
    if (!names.includes(name))
      throw usage(`--clear knows no ${JSON.stringify(name)}.`, `It knows ${names.join(', ')}.`);
    if (name in clearable) patch[clearable[name as keyof typeof clearable]] = null;
  }
  if (clear.includes('env') || patch.env !== undefined)
    patch.env = { ...(clear.includes('env') ? {} : present.env), ...patch.env };
  if (patch.resources !== undefined || clear.includes('memory') || clear.includes('cpu')) {
    const { memory_bytes, cpu } = present.resources;
    patch.resources = {
      ...(memory_bytes === null || clear.includes('memory') ? {} : { memory: String(memory_bytes) }),
      ...(cpu === null || clear.includes('cpu') ? {} : { cpu }),
      ...patch.resources,
    };
  }
  return patch;
};
