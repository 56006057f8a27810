// Builds stand side by side, `dist/server-ID`, and the link dist/server names the one that is started next. A server that runs
// starts its next runner and holder from the directory it came from: that one stays whole, whatever is built meanwhile.
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Besides the one in use: a server says on its command line where it came from, its runner and holder do too. */
const keptBuilds = 2;
const buildName = /^server-[\w]+$/;

export const buildDir = (root, stamp) => join(root, 'dist', `server-${stamp.slice(0, 12)}`);

/** Switched in one step: whoever starts meanwhile gets the old one or the new one, each whole. */
export const switchTo = (root, dir) => {
  const link = join(root, 'dist', 'server');
  // The layout of earlier versions.
  if (lstatSync(link, { throwIfNoEntry: false })?.isDirectory()) {
    rmSync(join(root, 'dist', 'server-before'), { recursive: true, force: true });
    renameSync(link, join(root, 'dist', 'server-before'));
  }
  rmSync(`${link}.new`, { force: true });
  symlinkSync(dir.slice(join(root, 'dist').length + 1), `${link}.new`);
  renameSync(`${link}.new`, link);
};

/** Of every process of this machine that may be seen; none where there is no /proc. */
const commandLines = () => {
  if (!existsSync('/proc/self/cmdline')) return [];
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')];
    } catch {
      return [];
    }
  });
};

export const dropOldBuilds = (root, current) => {
  const dist = join(root, 'dist');
  const running = commandLines();
  const unused = readdirSync(dist)
    .filter((name) => buildName.test(name) && join(dist, name) !== current)
    .filter((name) => !running.some((line) => line.includes(`${join(dist, name)}/`)))
    .map((name) => ({ name, at: statSync(join(dist, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at);
  for (const { name } of unused.slice(keptBuilds)) rmSync(join(dist, name), { recursive: true, force: true });
};
