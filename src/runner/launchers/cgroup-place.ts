/**
 * Where runs get their cgroups: found from the holder's own place, since the holder is the one that steps in and back. Three
 * ways: v2 (delegated: the directory is ours to write), the same inside a scope of the user's systemd in which the holder
 * was started, and v1 (memory hierarchy). None of them: null, and the limit is held by watching.
 * It looks and tries; it never guesses from the name of a distribution.
 */
import { accessSync, constants, existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readText } from './proc.ts';

export type CgroupPlace =
  | { kind: 'v2' | 'systemd'; base: string; home: string }
  /** `cpu`: the same in the cpu hierarchy, when that can be written too. */
  | { kind: 'v1'; base: string; cpu: string | null };

/** The holder's scope in the user's systemd: holder-start.ts names it. */
export const scopePrefix = 'drover-holder-';
/** v2 allows processes only in leaves: what lives in our directory moves here first. */
const mainLeaf = 'drover-main';

interface Mount {
  root: string;
  point: string;
  type: string;
  options: string[];
}

/** `36 35 0:30 ROOT POINT rw - TYPE SOURCE OPTIONS`, spaces in paths as \040. */
export const parseMounts = (mountinfo: string): Mount[] =>
  mountinfo.split('\n').flatMap((line) => {
    const [left = '', right = ''] = line.split(' - ');
    const [, , , root, point] = left.split(' ');
    const [type, , options = ''] = right.split(' ');
    if (root === undefined || point === undefined || type === undefined) return [];
    const plain = (path: string) =>
      path.replace(/\\([0-7]{3})/g, (_, o: string) => String.fromCharCode(Number.parseInt(o, 8)));
    return [{ root: plain(root), point: plain(point), type, options: options.split(',') }];
  });

/** `4:memory:/path` (v1, one line per hierarchy), `0::/path` (v2). */
export const pathIn = (cgroups: string, controller: string): string | null => {
  for (const line of cgroups.split('\n')) {
    const [, names, ...path] = line.split(':');
    if (names?.split(',').includes(controller)) return path.join(':');
  }
  return null;
};

/** Null when the mount does not show this path (a container that sees another part of the tree). */
const directory = (mount: Mount | undefined, path: string | null): string | null => {
  if (!mount || path === null || path.includes('..')) return null;
  if (mount.root === '/') return join(mount.point, path);
  return path === mount.root || path.startsWith(`${mount.root}/`)
    ? join(mount.point, path.slice(mount.root.length))
    : null;
};

const writable = (...paths: string[]): boolean => {
  try {
    for (const path of paths) accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

/** Only making one tells: a read-only mount and a foreign owner both pass for directories. */
const canMakeLeaves = (base: string): boolean => {
  const probe = join(base, `drover-probe-${process.pid}`);
  try {
    mkdirSync(probe);
    rmdirSync(probe);
    return true;
  } catch {
    return false;
  }
};

const words = (path: string): string[] => (readText(path) ?? '').split(/\s+/).filter((w) => w !== '');

/** Moves what lives in `base` into a leaf and switches the controllers on for the runs beside it. */
const openV2 = (base: string): { home: string } | null => {
  if (!words(join(base, 'cgroup.controllers')).includes('memory')) return null;
  if (!writable(base, join(base, 'cgroup.procs'), join(base, 'cgroup.subtree_control')) || !canMakeLeaves(base))
    return null;
  // The real root is exempt from the rule of leaves; it is the one without cgroup.events.
  const root = !existsSync(join(base, 'cgroup.events'));
  const home = root ? base : join(base, mainLeaf);
  try {
    if (!root) {
      mkdirSync(home, { recursive: true });
      for (const pid of words(join(base, 'cgroup.procs')))
        try {
          writeFileSync(join(home, 'cgroup.procs'), pid);
        } catch {
          // It has ended since.
        }
    }
    for (const controller of ['memory', 'cpu'])
      try {
        writeFileSync(join(base, 'cgroup.subtree_control'), `+${controller}`);
      } catch (error) {
        if (controller === 'memory') throw error;
      }
    return { home };
  } catch {
    return null;
  }
};

export const findCgroupPlace = (
  cgroups: string,
  mountinfo: string = readText('/proc/self/mountinfo') ?? '',
): CgroupPlace | null => {
  const mounts = parseMounts(mountinfo);
  const own = directory(
    mounts.find((m) => m.type === 'cgroup2'),
    pathIn(cgroups, ''),
  );
  if (own !== null) {
    const base = basename(own) === mainLeaf ? dirname(own) : own;
    const opened = openV2(base);
    if (opened) return { kind: base.includes(`/${scopePrefix}`) ? 'systemd' : 'v2', base, home: opened.home };
  }
  const v1 = (controller: string) => {
    const mount = mounts.find((m) => m.type === 'cgroup' && m.options.includes(controller));
    const dir = directory(mount, pathIn(cgroups, controller));
    return dir !== null && canMakeLeaves(dir) ? dir : null;
  };
  const memory = v1('memory');
  return memory === null ? null : { kind: 'v1', base: memory, cpu: v1('cpu') };
};
