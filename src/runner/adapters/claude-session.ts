/**
 * Whether Claude Code can go on with a session: it names one in its first event, and writes it down a little later. A run that was
 * killed in between has a name that `--resume` does not find (seen: one in six of those killed at a random instant).
 */
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClaimedWork } from '../../contract/runner-protocol.ts';
import type { AdapterHost } from './adapter.ts';
import { agentDir } from './places.ts';

/** The first message of the conversation stands at the beginning, behind a few lines of the CLI's own. */
const headBytes = 256 * 1024;

const projectsOf = ({ agent, credential }: ClaimedWork, host: AdapterHost): string => {
  if (credential !== null && credential.kind !== 'host_login') return join(agentDir(host.home, agent.id), 'projects');
  return join(host.env.CLAUDE_CONFIG_DIR ?? join(host.env.HOME ?? '/nonexistent', '.claude'), 'projects');
};

const saysSomething = (line: string): boolean => {
  try {
    return ['user', 'assistant'].includes((JSON.parse(line) as { type?: string }).type ?? '');
  } catch {
    // Torn by the kill, or cut by our own bound.
    return false;
  }
};

export const isWrittenDown = async (claim: ClaimedWork, session: string, host: AdapterHost): Promise<boolean> => {
  const projects = projectsOf(claim, host);
  for (const dir of await readdir(projects).catch(() => [])) {
    const file = await open(join(projects, dir, `${session}.jsonl`)).catch(() => null);
    if (file === null) continue;
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
      const head = buffer.toString('utf8', 0, bytesRead);
      // A first message larger than what is read is one all the same.
      if (bytesRead === headBytes || head.split('\n').some(saysSomething)) return true;
    } finally {
      await file.close();
    }
  }
  return false;
};
