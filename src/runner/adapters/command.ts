/** Any program as an agent: its argv as it stands, the message on stdin, stdout is the answer, exit 0 is success (R33). */
import { cannotPrepare, type ProcessAdapter } from './adapter.ts';
import { childEnvironment } from './environment.ts';

export const commandAdapter: ProcessAdapter = {
  cli: 'command',
  async order(claim, _cwd, host) {
    const { command, name } = claim.agent;
    if (!command || command.length === 0)
      return cannotPrepare(
        'command_missing',
        `Agent ${name} has the adapter "command" but no command. Set command to its argv, for example ["./run.sh"].`,
      );
    return { argv: command, env: childEnvironment(claim, host.env), stdin: claim.message };
  },
};
