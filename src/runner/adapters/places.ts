/**
 * Where the CLIs of agents keep things under DROVER_HOME: per credential and agent what belongs to a login, per agent what
 * must survive a change of it (sessions), per run what is written for this run alone and removed after it.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClaimedWork } from '../../contract/runner-protocol.ts';
import type { AdapterHost } from './adapter.ts';

/** An id as the name of a directory: never a way out of it. */
export const safeName = (id: string): string => id.replace(/[^A-Za-z0-9_-]/g, '_');

export const credentialDir = (home: string, credentialId: string): string =>
  join(home, 'runner', 'cli', safeName(credentialId));
export const loginDir = (home: string, credentialId: string, agentId: string): string =>
  join(credentialDir(home, credentialId), safeName(agentId));
export const agentDir = (home: string, agentId: string): string => join(home, 'runner', 'agents', safeName(agentId));
export const runDir = (home: string, { agent, attempt }: Pick<ClaimedWork, 'agent' | 'attempt'>): string =>
  join(agentDir(home, agent.id), `run-${safeName(attempt)}`);

/** Makes a directory that only the agent's user may look into. */
export const makeDir = async (path: string, host: Pick<AdapterHost, 'ownedByAgent'>): Promise<string> => {
  await mkdir(path, { recursive: true, mode: 0o700 });
  host.ownedByAgent(path);
  return path;
};

export const removeRunDir = (home: string, claim: Pick<ClaimedWork, 'agent' | 'attempt'>): Promise<void> =>
  rm(runDir(home, claim), { recursive: true, force: true });

/** What agent and request want said to the model before the message; null when nothing. */
export const instructionsOf = ({ agent, options }: Pick<ClaimedWork, 'agent' | 'options'>): string | null => {
  const parts = [agent.custom_instructions, options.system_prompt].filter((t) => t);
  return parts.length === 0 ? null : parts.join('\n\n');
};
