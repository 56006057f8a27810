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
  instructions?: string;
  permissionMode?: NonNullable<AgentSpec['permission_mode']>;
  allowBypassWithoutIsolation?: boolean;
  allowTool?: string[];
  workspaceMode?: NonNullable<AgentSpec['workspace_mode']>;
  pool?: string;
}

export type SpecPatch = Partial<Omit<AgentSpec, 'name'>>;

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
    custom_instructions: flags.instructions,
    permission_mode: flags.permissionMode,
    allow_bypass_without_isolation: flags.allowBypassWithoutIsolation,
    allowed_tools: flags.allowTool,
    workspace_mode: flags.workspaceMode,
    pool: flags.pool,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
};
