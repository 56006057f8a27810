/**
 * Where Claude Code keeps its configuration and transcripts. One configuration directory per credential and agent, so that
 * two logins never meet in one file; `projects/` in it is a link to the agent's own folder, so that a session survives a
 * change of credential (seen: without it `--resume` says "No conversation found").
 */
import { lstat, mkdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AdapterHost } from './adapter.ts';

const linkTo = async (target: string, path: string): Promise<void> => {
  const there = await readlink(path).catch(() => null);
  if (there === target) return;
  // A CLI run by hand on this directory may have made a real one: kept beside, never deleted.
  const known = await lstat(path).catch(() => null);
  if (known?.isSymbolicLink()) await rm(path, { force: true });
  else if (known) await rename(path, `${path}.before-${known.mtimeMs.toFixed(0)}`);
  await symlink(target, path).catch((error: NodeJS.ErrnoException) => {
    // Another attempt of the same agent was quicker.
    if (error.code !== 'EEXIST') throw error;
  });
};

/** An id as the name of a directory: never a way out of it. */
export const safeName = (id: string): string => id.replace(/[^A-Za-z0-9_-]/g, '_');

export const claudeConfigDir = async (
  home: string,
  credentialId: string,
  agentId: string,
  ownedByAgent: AdapterHost['ownedByAgent'],
): Promise<string> => {
  const dir = join(home, 'runner', 'cli', safeName(credentialId), safeName(agentId));
  const projects = join(home, 'runner', 'agents', safeName(agentId), 'projects');
  for (const made of [dir, projects]) await mkdir(made, { recursive: true, mode: 0o700 });
  await linkTo(projects, join(dir, 'projects'));
  for (const made of [dir, dirname(projects), projects]) ownedByAgent(made);
  return dir;
};
