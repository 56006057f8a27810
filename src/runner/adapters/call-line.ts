/**
 * The line by which an agent calls others: a token that names its own execution and nothing more, and the bridge that speaks MCP
 * with its CLI (src/mcp/bridge.ts). The token stands in a file of this run (0600) and in the environment, never in argv (R45).
 */
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { executionBearer } from '../../contract/principal.ts';
import type { ClaimedWork } from '../../contract/runner-protocol.ts';
import type { AdapterHost } from './adapter.ts';
import { safeName } from './places.ts';

/** What the host offers for it; null: agents of this runner call nobody. */
export interface CallServer {
  url: string;
  /** The Node that runs the bridge. */
  node: string;
  bridge: string;
}

/** src/mcp/bridge.ts in development, dist/server/mcp-bridge.cjs beside the bundle. */
export const bridgeEntry = (): string =>
  fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../../mcp/bridge.ts' : './mcp-bridge.cjs', import.meta.url));

/** Small heap: it copies lines, and an answer may have a few megabytes. */
const nodeArgs = ['--max-semi-space-size=1', '--max-old-space-size=64', '--no-warnings'];

/**
 * How long a CLI that bounds the calls of a server may wait for one: a call lasts as long as the run may (24 h), and ends by
 * Drover's own limits. Codex gives up after 60 s of its own accord, Gemini CLI after ten minutes.
 */
export const callMostS = 24 * 3600;

type Which = Pick<ClaimedWork, 'attempt' | 'agent' | 'execution_id' | 'token'>;

const pathOf = (home: string, claim: Pick<Which, 'attempt' | 'agent'>, name: string): string =>
  join(home, 'runner', 'agents', safeName(claim.agent.id), `${name}-${safeName(claim.attempt)}.json`);

const bearerOf = (claim: Which): string => executionBearer(claim.execution_id, claim.token);

const writeOwn = async (path: string, value: object, host: AdapterHost): Promise<void> => {
  // Whole or not at all: the bridge may be reading it.
  await writeFile(`${path}.new`, JSON.stringify(value), { mode: 0o600 });
  host.ownedByAgent(`${path}.new`);
  await rename(`${path}.new`, path);
};

const writeLine = (claim: Which, url: string, host: AdapterHost): Promise<void> =>
  writeOwn(pathOf(host.home, claim, 'line'), { url, token: bearerOf(claim) }, host);

/** What a CLI's configuration of MCP servers names as `drover`; null when agents of this runner call nobody. */
export const bridgeServer = async (
  claim: Which,
  host: AdapterHost,
): Promise<{ command: string; args: string[] } | null> => {
  if (host.callServer === null) return null;
  const { url, node, bridge } = host.callServer;
  const file = pathOf(host.home, claim, 'line');
  const dir = join(host.home, 'runner', 'agents', safeName(claim.agent.id));
  await mkdir(dir, { recursive: true, mode: 0o700 });
  host.ownedByAgent(dir);
  await writeLine(claim, url, host);
  return { command: node, args: [...nodeArgs, bridge, file] };
};

/** The `--mcp-config` of Claude Code: `alwaysLoad`, or newer builds hide the tools behind a search tool. */
export const claudeMcpConfig = async (claim: Which, host: AdapterHost): Promise<string | null> => {
  const server = await bridgeServer(claim, host);
  if (server === null) return null;
  const path = pathOf(host.home, claim, 'mcp');
  await writeOwn(path, { mcpServers: { drover: { type: 'stdio', ...server, alwaysLoad: true } } }, host);
  return path;
};

/** For `drover run` and plain REST calls of any agent: its own execution, nothing more. */
export const callEnv = (claim: Which, host: AdapterHost): Record<string, string> =>
  host.callServer === null
    ? {}
    : {
        DROVER_SERVER_URL: host.callServer.url,
        DROVER_TOKEN: bearerOf(claim),
        DROVER_EXECUTION_ID: claim.execution_id,
      };

/** A runner that finds an agent alive tells its bridge where the server is now. */
export const redrawLine = async (claim: Which, host: AdapterHost): Promise<void> => {
  if (host.callServer !== null && existsSync(pathOf(host.home, claim, 'line')))
    await writeLine(claim, host.callServer.url, host);
};

export const dropLine = async (claim: Pick<Which, 'attempt' | 'agent'>, home: string): Promise<void> => {
  for (const name of ['line', 'mcp']) await rm(pathOf(home, claim, name), { force: true });
};

/** The same for an agent behind HTTP, in the request that gives it its work: the service calls others in its execution's name. */
export interface CallBack {
  server_url: string;
  mcp_url: string;
  token: string;
  execution_id: string;
}

export const callBack = (claim: Which, host: AdapterHost): CallBack | null =>
  host.callServer === null
    ? null
    : {
        server_url: host.callServer.url,
        mcp_url: new URL('/mcp', host.callServer.url).href,
        token: bearerOf(claim),
        execution_id: claim.execution_id,
      };
