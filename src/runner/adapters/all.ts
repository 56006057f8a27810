/** Which adapter serves which agent: the one list, so that a new kind is one file and one line. */
import type { AdapterName } from '../../contract/agent.ts';
import type { CliKind } from '../../contract/facts.ts';
import type { ProcessAdapter } from './adapter.ts';
import { claudeAdapter } from './claude.ts';
import { commandAdapter } from './command.ts';

/** Agents that are a process of this host. `http` is none: `service.ts` is its client. */
export const processAdapters: Record<Exclude<AdapterName, 'http'>, ProcessAdapter> = {
  claude: claudeAdapter,
  command: commandAdapter,
};

export const cliOf = (adapter: AdapterName): CliKind => (adapter === 'http' ? 'http' : processAdapters[adapter].cli);
