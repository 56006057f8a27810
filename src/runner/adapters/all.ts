/** Which adapter serves which agent: the one list, so that a new kind is one file and one line. */
import type { AdapterName } from '../../contract/agent.ts';
import type { CliKind, StreamFacts } from '../../contract/facts.ts';
import type { ClaimedWork } from '../../contract/runner-protocol.ts';
import type { AdapterHost, ProcessAdapter } from './adapter.ts';
import { claudeAdapter } from './claude.ts';
import { codexAdapter } from './codex.ts';
import { commandAdapter } from './command.ts';
import { geminiAdapter } from './gemini.ts';
import { removeRunDir } from './places.ts';

/** Agents that are a process of this host. `http` is none: `service.ts` is its client. */
export const processAdapters: Record<Exclude<AdapterName, 'http'>, ProcessAdapter> = {
  claude: claudeAdapter,
  codex: codexAdapter,
  gemini: geminiAdapter,
  command: commandAdapter,
};

export const cliOf = (adapter: AdapterName): CliKind => (adapter === 'http' ? 'http' : processAdapters[adapter].cli);

const of = ({ agent }: Pick<ClaimedWork, 'agent'>): ProcessAdapter | null =>
  agent.adapter === 'http' ? null : processAdapters[agent.adapter];

/** The stream, with what its CLI wrote down elsewhere. Nothing was spawned: the stream as it is. */
export const completeStream = async (
  claim: ClaimedWork,
  stream: StreamFacts,
  since: number | null,
  host: AdapterHost,
): Promise<StreamFacts> =>
  since === null ? stream : ((await of(claim)?.complete?.(claim, stream, since, host)) ?? stream);

/** Nothing of an order outlives its run. */
export const tidy = async (claim: ClaimedWork, host: AdapterHost): Promise<void> => {
  await of(claim)?.tidy?.(claim, host);
  await removeRunDir(host.home, claim);
};
