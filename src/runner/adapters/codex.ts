/**
 * Codex in `exec --json`: one event per line on stdout, the message on stdin. Nobody can be asked, so nothing is: what the sandbox
 * of the permission mode does not allow is refused, and the run goes on. It has no limit of turns and no list of tools: `max_turns`
 * and `allowed_tools` do not reach it. Instructions count from the first turn of a session.
 */
import type { ClaimedWork } from '../../contract/runner-protocol.ts';
import { callPipe } from '../calls/call-pipe.ts';
import type { McpServer, ProcessAdapter } from './adapter.ts';
import { callMostS } from './call-line.ts';
import { codexHomeOf, hasOwnHome, layCodexHome, removeProfile, toml, writeProfile } from './codex-home.ts';
import { findThread, providerOf, runOf } from './codex-thread.ts';
import { childEnvironment } from './environment.ts';
import { cliProgram } from './find-program.ts';
import { instructionsOf } from './places.ts';

/** Read anything and write nothing; write in the workspace and /tmp, without the network; no sandbox at all. */
const sandboxes: Record<ClaimedWork['agent']['permission_mode'], string> = {
  default: 'read-only',
  plan: 'read-only',
  dontAsk: 'read-only',
  acceptEdits: 'workspace-write',
  bypassPermissions: 'danger-full-access',
};

const ownProvider = 'drover';

/**
 * Codex 0.171 does not read OPENAI_BASE_URL, and its own provider tries WebSockets for six seconds where only HTTP is spoken. So an
 * address in the agent's env becomes a provider that speaks HTTP and logs in as OpenAI's. A thread keeps the provider it began
 * with: resumed with another one it is refused.
 */
const providerFlags = (baseUrl: string | undefined, threadProvider: string | null): string[] => {
  if ((threadProvider ?? (baseUrl ? ownProvider : null)) === ownProvider) {
    const address = baseUrl ? `base_url=${toml(baseUrl)},supports_websockets=false,` : '';
    const provider = `{name="OpenAI",wire_api="responses",${address}requires_openai_auth=true}`;
    return ['-c', `model_provider=${toml(ownProvider)}`, '-c', `model_providers.${ownProvider}=${provider}`];
  }
  return baseUrl ? ['-c', `openai_base_url=${toml(baseUrl)}`] : [];
};

/**
 * Calls to other agents are allowed or refused by the server, in words: without `approve` the CLI cancels each call, since nobody
 * can be asked.
 */
const mcpFlags = (drover: McpServer | null): string[] => {
  if (drover === null) return [];
  const server = [
    `command=${toml(drover.command)}`,
    `args=[${drover.args.map(toml).join(',')}]`,
    'enabled=true',
    'default_tools_approval_mode="approve"',
    `tool_timeout_sec=${callMostS}`,
  ];
  return ['-c', `mcp_servers.drover={${server.join(',')}}`];
};

interface CodexFiles {
  profile: string | null;
  threadProvider: string | null;
  drover: McpServer | null;
}

const codexArgv = (claim: ClaimedWork, program: string, { profile, threadProvider, drover }: CodexFiles): string[] => {
  const { agent, options } = claim;
  const model = options.model ?? agent.model;
  // Any directory may be a workspace; Drover has its own care for it.
  const argv = [program, 'exec', '--json', '--skip-git-repo-check'];
  argv.push('-c', 'approval_policy="never"', '-c', `sandbox_mode=${toml(sandboxes[agent.permission_mode])}`);
  // Never a key ring of the host: what was lent stands in a file.
  if (hasOwnHome(claim)) argv.push('-c', 'cli_auth_credentials_store="file"');
  argv.push(...providerFlags(agent.env.OPENAI_BASE_URL, threadProvider));
  argv.push(...mcpFlags(drover));
  if (model) argv.push('--model', model);
  if (profile) argv.push('--profile', profile);
  // A session is named by whoever asks: it never becomes a switch.
  if (claim.cli_session_id) argv.push('resume', '--', claim.cli_session_id);
  argv.push('-');
  return argv;
};

export const codexAdapter: ProcessAdapter = {
  cli: 'codex',
  async order(claim, cwd, host) {
    const home = await layCodexHome(claim, host);
    const env = childEnvironment(claim, host.env, hasOwnHome(claim) ? { CODEX_HOME: home } : {});
    const instructions = instructionsOf(claim);
    const thread = claim.cli_session_id === null ? null : await findThread(home, claim.cli_session_id);
    const argv = codexArgv(claim, await cliProgram('codex', null, claim, env.PATH, cwd, host), {
      profile: instructions === null ? null : await writeProfile(claim, instructions, host),
      threadProvider: thread === null ? null : await providerOf(thread),
      drover: await callPipe(claim, host),
    });
    return { argv, env, stdin: claim.message };
  },

  async complete(claim, stream, since, host) {
    if (stream.session_id === null) return stream;
    const thread = await findThread(codexHomeOf(claim, host), stream.session_id);
    const run = thread === null ? null : await runOf(thread, since);
    // Of a resumed thread the stream tells the total, which would bill the turns before once more.
    const told = claim.cli_session_id === null ? stream.usage : null;
    return {
      ...stream,
      usage: run?.usage ?? told,
      model: run?.model ?? stream.model,
      context_used: run?.context_used ?? stream.context_used,
      context_max: run?.context_max ?? stream.context_max,
    };
  },

  tidy: removeProfile,
};
