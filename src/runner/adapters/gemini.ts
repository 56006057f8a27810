/**
 * Gemini CLI in `-o stream-json`: one event per line on stdout, the message on stdin, which makes it headless. Tools that its
 * approval mode does not allow are taken away from the model, and the run goes on.
 */
import type { ClaimedWork } from '../../contract/runner-protocol.ts';
import type { ProcessAdapter } from './adapter.ts';
import { childEnvironment } from './environment.ts';
import { cliProgram } from './find-program.ts';
import { layGeminiHome } from './gemini-home.ts';

const approvals: Record<ClaimedWork['agent']['permission_mode'], string> = {
  default: 'default',
  dontAsk: 'default',
  plan: 'plan',
  acceptEdits: 'auto_edit',
  bypassPermissions: 'yolo',
};

const fixedEnv: Record<string, string> = {
  // Its launcher swallows SIGINT and SIGTERM and hands none on: the CLI itself must be the leader.
  GEMINI_CLI_NO_RELAUNCH: 'true',
  // Nobody can be asked; the workspace is of the operator's choosing.
  GEMINI_CLI_TRUST_WORKSPACE: 'true',
  // Its errors are sentences to be read.
  NO_COLOR: '1',
};

/** Routes and logins that a `.env` in the workspace would bring in beside a lent key: a name that is set is left alone. */
const shadowed = [
  'GOOGLE_GEMINI_BASE_URL',
  'GOOGLE_VERTEX_BASE_URL',
  'GOOGLE_API_KEY',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'GOOGLE_GENAI_USE_VERTEXAI',
  'GOOGLE_GENAI_USE_GCA',
  'GEMINI_CLI_CUSTOM_HEADERS',
];
const emptied = ({ agent }: ClaimedWork): Record<string, string> =>
  Object.fromEntries(shadowed.filter((name) => !(name in agent.env)).map((name) => [name, '']));

const geminiArgv = ({ agent, options, cli_session_id }: ClaimedWork, program: string): string[] => {
  const tools = options.allowed_tools ?? agent.allowed_tools;
  const model = options.model ?? agent.model;
  const argv = [program, '--output-format', 'stream-json', '--approval-mode', approvals[agent.permission_mode]];
  if (model) argv.push(`--model=${model}`);
  if (cli_session_id) argv.push(`--resume=${cli_session_id}`);
  if (tools && tools.length > 0) argv.push(`--allowed-tools=${tools.join(',')}`);
  return argv;
};

export const geminiAdapter: ProcessAdapter = {
  cli: 'gemini',
  async order(claim, cwd, host) {
    const { agent, credential } = claim;
    const lent = credential !== null && credential.kind !== 'host_login';
    const usersHome = agent.env.GEMINI_CLI_HOME ?? agent.env.HOME ?? host.env.HOME ?? '/';
    const home = await layGeminiHome(claim, cwd, lent ? null : usersHome, host);
    if (typeof home !== 'string') return home;
    const env = childEnvironment(claim, host.env, {
      ...(lent ? emptied(claim) : {}),
      ...fixedEnv,
      GEMINI_CLI_HOME: home,
    });
    return {
      argv: geminiArgv(claim, await cliProgram('gemini', null, claim, env.PATH, cwd, host)),
      env,
      stdin: claim.message,
    };
  },
};
