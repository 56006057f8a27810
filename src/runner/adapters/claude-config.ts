/**
 * Where Claude Code keeps its configuration and transcripts. One configuration directory per credential and agent, so that
 * two logins never meet in one file; `projects/` in it is a link to the agent's own folder, so that a session survives a
 * change of credential (seen: without it `--resume` says "No conversation found").
 */
import { join } from 'node:path';
import type { AdapterHost } from './adapter.ts';
import { linkTo } from './link-to.ts';
import { agentDir, loginDir, makeDir } from './places.ts';

export const claudeConfigDir = async (host: AdapterHost, credentialId: string, agentId: string): Promise<string> => {
  const dir = loginDir(host.home, credentialId, agentId);
  const projects = join(agentDir(host.home, agentId), 'projects');
  await makeDir(dir, host);
  await makeDir(projects, host);
  await linkTo(projects, join(dir, 'projects'));
  return dir;
};
