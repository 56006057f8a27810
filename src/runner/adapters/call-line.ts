/**
 * What an agent is told of the way to call others: where the server is, and a token that names its own execution and nothing more.
 * CLIs that speak MCP get it as a server of tools (src/runner/calls/). The token stands in the environment, never in argv (R45).
 */
import { executionBearer } from '../../contract/principal.ts';
import type { ClaimedWork } from '../../contract/runner-protocol.ts';
import type { AdapterHost } from './adapter.ts';

/**
 * How long a CLI that bounds the calls of a server may wait for one: a call lasts as long as the run may (24 h), and ends by
 * Drover's own limits. Codex gives up after 60 s of its own accord, Gemini CLI after ten minutes.
 */
export const callMostS = 24 * 3600;

type Which = Pick<ClaimedWork, 'execution_id' | 'token'>;

export const bearerOf = (claim: Which): string => executionBearer(claim.execution_id, claim.token);

/** For `drover run` and plain REST calls of any agent: its own execution, nothing more. */
export const callEnv = (claim: Which, host: AdapterHost): Record<string, string> =>
  host.serverUrl === null
    ? {}
    : {
        DROVER_SERVER_URL: host.serverUrl,
        DROVER_TOKEN: bearerOf(claim),
        DROVER_EXECUTION_ID: claim.execution_id,
      };

/** The same for an agent behind HTTP, in the request that gives it its work: the service calls others in its execution's name. */
export interface CallBack {
  server_url: string;
  mcp_url: string;
  token: string;
  execution_id: string;
}

export const callBack = (claim: Which, host: AdapterHost): CallBack | null =>
  host.serverUrl === null
    ? null
    : {
        server_url: host.serverUrl,
        mcp_url: new URL('/mcp', host.serverUrl).href,
        token: bearerOf(claim),
        execution_id: claim.execution_id,
      };
