/**
 * Claude Code in print mode: one JSON event per line on stdout, the message on stdin (argv shows in `ps`, is bounded at
 * 128 KiB and falls to a `pkill -f` of the agent's own). What each switch is for stands beside it; the CLI's events are read
 * by `evidence/`.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClaimedWork } from '../../contract/runner-protocol.ts';
import { callPipe } from '../calls/call-pipe.ts';
import type { AdapterHost, ProcessAdapter } from './adapter.ts';
import { claudeConfigDir } from './claude-config.ts';
import { isWrittenDown } from './claude-session.ts';
import { childEnvironment } from './environment.ts';
import { cliProgram } from './find-program.ts';
import { instructionsOf, makeDir, runDir } from './places.ts';

const fixedEnv: Record<string, string> = {
  // The operator upgrades the CLI, not a run in the middle of the night.
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  // A call to another agent may be silent for longer than the CLI's 300 s (R21).
  CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT: '0',
  // Failures before the first turn then end with a structured result instead of one line on stderr.
  CLAUDE_CODE_STARTUP_FAILURE_RESULTS: '1',
};

/** Calls to other agents are allowed or refused by the server, in words; no permission mode stands before them. */
const droverTools = 'mcp__drover';

const claudeArgv = (
  claim: ClaimedWork,
  program: string,
  files: { prompt: string | null; mcp: string | null },
): string[] => {
  const { agent, options } = claim;
  const tools = [...(options.allowed_tools ?? agent.allowed_tools ?? []), ...(files.mcp ? [droverTools] : [])];
  const model = options.model ?? agent.model;
  const argv = [program, '-p', '--output-format', 'stream-json', '--verbose', '--input-format', 'text'];
  argv.push('--permission-mode', agent.permission_mode);
  // The default model differs by login: a named one makes runs alike.
  if (model) argv.push('--model', model);
  if (claim.cli_session_id) argv.push('--resume', claim.cli_session_id);
  if (options.max_turns) argv.push('--max-turns', String(options.max_turns));
  if (files.prompt) argv.push('--append-system-prompt-file', files.prompt);
  // `=`: the switch takes a list and would swallow what follows it.
  if (files.mcp) argv.push(`--mcp-config=${files.mcp}`);
  if (tools.length > 0) argv.push(`--allowedTools=${tools.join(',')}`);
  return argv;
};

/** The agent's instructions and the request's, in a file: together they may be longer than one argument may be. */
const writePrompt = async (claim: ClaimedWork, host: AdapterHost): Promise<string | null> => {
  const text = instructionsOf(claim);
  if (text === null) return null;
  return writeFor(claim, 'prompt.md', text, host);
};

const writeFor = async (claim: ClaimedWork, name: string, text: string, host: AdapterHost): Promise<string> => {
  const path = join(await makeDir(runDir(host.home, claim), host), name);
  await writeFile(path, text, { mode: 0o600 });
  host.ownedByAgent(path);
  return path;
};

/** `alwaysLoad`, or newer builds hide the tools behind a search tool. */
const mcpConfig = async (claim: ClaimedWork, host: AdapterHost): Promise<string | null> => {
  const server = await callPipe(claim, host);
  if (server === null) return null;
  const config = { mcpServers: { drover: { type: 'stdio', ...server, alwaysLoad: true } } };
  return writeFor(claim, 'mcp.json', JSON.stringify(config), host);
};

const loginEnv = async ({ agent, credential }: ClaimedWork, host: AdapterHost): Promise<Record<string, string>> => {
  // Host login: the CLI's own configuration of this user, as it is.
  if (credential === null || credential.kind === 'host_login') return {};
  return {
    CLAUDE_CONFIG_DIR: await claudeConfigDir(host, credential.id, agent.id),
    // Seen: a key in the workspace's own .claude/settings.json (env or apiKeyHelper) wins over the lent one. With this the
    // CLI takes login and routing from its environment alone, and still reads the other settings.
    CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST: '1',
  };
};

export const claudeAdapter: ProcessAdapter = {
  cli: 'claude',
  async order(claim, cwd, host) {
    const { agent } = claim;
    const bypass = agent.permission_mode === 'bypassPermissions';
    const asRoot = process.getuid?.() === 0 && host.isolation !== 'user';
    const env = childEnvironment(claim, host.env, {
      ...fixedEnv,
      // As root the CLI refuses bypass unless it is told that somebody has thought about it; admission has (R30).
      ...(bypass && asRoot ? { IS_SANDBOX: '1' } : {}),
      ...(await loginEnv(claim, host)),
    });
    const program = await cliProgram('claude', host.claudeBin, claim, env.PATH, cwd, host);
    const files = { prompt: await writePrompt(claim, host), mcp: await mcpConfig(claim, host) };
    return { argv: claudeArgv(claim, program, files), env, stdin: claim.message };
  },
  async complete(claim, stream, _since, host) {
    const { session_id: session } = stream;
    // What it ended with an answer it has written down.
    if (session === null || stream.result !== null || (await isWrittenDown(claim, session, host))) return stream;
    return { ...stream, session_id: null };
  },
};
