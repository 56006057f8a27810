/**
 * What an agent's CLI starts as its MCP server: a shell that copies its stdin to one file of this run and the other file to its
 * stdout. Who answers is the runner (relay.ts). Files and no pipes, as for the output: what was said stands, so a call outlives every
 * restart of server and runner. A program of ours in its place takes 48 MB for each run (9 of them its own) instead of 5, and its
 * start, which the CLI waits for, 36 ms instead of 2.
 *
 * `PID.in` what the CLI said, `PID.out` what it is told, `PID.end` that it has hung up. By the shell's own pid: a CLI may start
 * another one, and its ids begin anew.
 */
import { join } from 'node:path';
import type { ClaimedWork } from '../../contract/runner-protocol.ts';
import type { AdapterHost, McpServer } from '../adapters/adapter.ts';
import { makeDir, runDir } from '../adapters/places.ts';

/** `-C`: never into a file that is there. `<&4`: without it a shell gives what runs in its background an empty stdin. */
const script = `set -C
at=$1/$$
: >"$at.out" || exit 1
: >"$at.in" || exit 1
tail -n +1 -f "$at.out" & t=$!
exec 4<&0
cat <&4 >>"$at.in" & c=$!
end() { kill $t $c 2>/dev/null; wait; : >"$at.end"; exit 0; }
trap end HUP INT TERM
wait $c
end`;

export const callsDir = (home: string, claim: Pick<ClaimedWork, 'agent' | 'attempt'>): string =>
  join(runDir(home, claim), 'calls');

/** What a CLI's configuration of MCP servers names as `drover`; null when agents of this runner call nobody. */
export const callPipe = async (claim: ClaimedWork, host: AdapterHost): Promise<McpServer | null> => {
  if (host.serverUrl === null) return null;
  await makeDir(runDir(host.home, claim), host);
  const dir = await makeDir(callsDir(host.home, claim), host);
  return { command: '/bin/sh', args: ['-c', script, 'drover-calls', dir] };
};
