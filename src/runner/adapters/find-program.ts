/** Name → absolute path by PATH, as a shell would; null when there is none. A path stays what it is, made absolute. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { ClaimedWork } from '../../contract/runner-protocol.ts';
import type { AdapterHost, PackagedCli } from './adapter.ts';

const findProgram = async (name: string, path: string | undefined, cwd: string): Promise<string | null> => {
  if (isAbsolute(name)) return name;
  if (name.includes('/')) return resolve(cwd, name);
  for (const dir of (path ?? '').split(delimiter)) {
    if (!isAbsolute(dir)) continue;
    const candidate = join(dir, name);
    const runs = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return candidate;
  }
  return null;
};

/** The program of a CLI: the agent's own, else the configured one, else from PATH, else the one that the package brings along. */
export const cliProgram = async (
  name: PackagedCli,
  configured: string | null,
  { agent }: Pick<ClaimedWork, 'agent'>,
  path: string | undefined,
  cwd: string,
  host: Pick<AdapterHost, 'packaged'>,
): Promise<string> => {
  const wanted = agent.executable ?? configured ?? name;
  const found = await findProgram(wanted, path, cwd);
  // Not found at all: the spawn then fails with ENOENT and that name, which is what the operator must read.
  return found ?? (wanted === name ? host.packaged[name] : undefined) ?? wanted;
};
