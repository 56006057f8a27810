// One set-up at a time in a tree. The lock file names who holds it, by pid and start time (a pid alone is given out again),
// and the npm it started: a killed set-up leaves that one at work, and two npms in one node_modules break each other.
// Nobody holds it for longer than he lives; what is left of the dead is taken away.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

const read = (file) => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/** `pid:start`, the start in ticks since boot; without a start where there is no /proc. Empty: no such process. */
const identity = (pid) => {
  // After the name, which may hold spaces and brackets: the state, and 19 fields on the start.
  const fields = read(`/proc/${pid}/stat`).split(') ').at(-1).split(' ');
  if (fields.length > 19) return fields[0] === 'Z' ? '' : `${pid}:${fields[19]}`;
  try {
    process.kill(pid, 0);
    return `${pid}:`;
  } catch (e) {
    return e.code === 'EPERM' ? `${pid}:` : '';
  }
};
const lives = (line) => line !== '' && identity(Number(line.split(':')[0])) === line;

const put = (file, text) => {
  const own = `${file}.${process.pid}`;
  try {
    writeFileSync(own, text);
    // A link is there whole or not at all: nobody reads a lock that is still empty.
    linkSync(own, file);
  } finally {
    rmSync(own, { force: true });
  }
};

/** Takes away a lock of which nobody lives; one that is no longer what was read is put back. */
const clear = (file, seen) => {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
    if (read(aside) !== seen) linkSync(aside, file);
  } catch {
    // Another one was quicker.
  }
  rmSync(aside, { force: true });
};

/** Waits for its turn, telling `waits` once for whom. `works(pid)` adds the process that goes on when this one is killed. */
export const takeLock = async (file, waits) => {
  for (let told = false; ; ) {
    try {
      put(file, identity(process.pid));
      return {
        works(pid) {
          const next = `${file}.${process.pid}`;
          writeFileSync(next, `${identity(process.pid)}\n${identity(pid)}`);
          renameSync(next, file);
        },
        release: () => rmSync(file, { force: true }),
      };
    } catch (e) {
      if (e.code !== 'EEXIST') throw e;
    }
    const seen = read(file);
    const holder = seen.split('\n').find(lives);
    if (holder === undefined) clear(file, seen);
    else {
      if (!told) waits(Number(holder.split(':')[0]));
      told = true;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
};
