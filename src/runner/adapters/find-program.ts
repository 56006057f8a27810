/** Name → absolute path by PATH, as a shell would; null when there is none. A path stays what it is, made absolute. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

export const findProgram = async (name: string, path: string | undefined, cwd: string): Promise<string | null> => {
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
