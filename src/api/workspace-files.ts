/**
 * Reading the files of a workspace. What is given out lies inside it after every link is followed: the file is opened first
 * and then asked where it really is, so that a link swapped in between gains nothing. Never blocks on a pipe or a device.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';

interface FileNode {
  name: string;
  /** Relative to the workspace. */
  path: string;
  type: 'file' | 'directory' | 'link' | 'other';
  size: number | null;
  modified: string | null;
  children?: FileNode[];
}

/** One answer shows at most this many entries and this many levels; `truncated` says that there is more. */
const entriesMost = 2_000;
const levelsMost = 12;
/** Big, and never what a person looks for in a list of an agent's files. */
const closed = new Set(['.git', 'node_modules']);

const within = (root: string, path: string): boolean =>
  path === root || path.startsWith(root === sep ? sep : root + sep);

interface Place {
  root: string;
  path: string;
  /** Real paths of DROVER_HOME and of the agents' own workspaces in it. */
  home: string;
  workspaces: string;
}

/** An agent's workspace may hold DROVER_HOME, or be it: keys and databases are nobody's files to read (R45). */
const ours = ({ home, workspaces }: Place, path: string): boolean => within(home, path) && !within(workspaces, path);

/** The real path of a place inside the workspace; null when it does not exist there, leads outside, or is ours. */
const placeInside = async (root: string, path: string, home: string): Promise<Place | null> => {
  if (path.includes('\0')) return null;
  try {
    const real = { root: await realpath(root), path: await realpath(join(root, path)), home: await realpath(home) };
    const place = { ...real, workspaces: join(real.home, 'workspaces') };
    return within(real.root, real.path) && !ours(place, real.path) ? place : null;
  } catch {
    return null;
  }
};

export const listTree = async (
  root: string,
  below: string,
  home: string,
): Promise<{ tree: FileNode[]; truncated: boolean } | null> => {
  const place = await placeInside(root, below, home);
  if (place === null) return null;
  let left = entriesMost;
  let truncated = false;

  const list = async (dir: string, level: number): Promise<FileNode[]> => {
    // A directory that cannot be read, or is gone by now, is shown empty.
    const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
    const nodes: FileNode[] = [];
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (left-- <= 0) {
        truncated = true;
        break;
      }
      const path = join(dir, entry.name);
      if (ours(place, path)) continue;
      const node: FileNode = {
        name: entry.name,
        path: path.slice(place.root.length + 1),
        type: entry.isDirectory() ? 'directory' : entry.isFile() ? 'file' : entry.isSymbolicLink() ? 'link' : 'other',
        size: null,
        modified: null,
      };
      if (node.type === 'file') {
        const s = await stat(path).catch(() => null);
        node.size = s?.size ?? null;
        node.modified = s === null ? null : s.mtime.toISOString();
      }
      if (node.type === 'directory') {
        const deeper = level < levelsMost && !closed.has(entry.name);
        if (!deeper) truncated = true;
        node.children = deeper ? await list(path, level + 1) : [];
      }
      nodes.push(node);
    }
    return nodes;
  };
  return { tree: await list(place.path, 1), truncated };
};

/** An open file inside the workspace, its name and size; the caller closes it. */
export const openInside = async (
  root: string,
  path: string,
  home: string,
): Promise<{ handle: FileHandle; name: string; size: number } | null> => {
  const place = await placeInside(root, path, home);
  if (place === null) return null;
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const handle = await open(place.path, flags).catch(() => null);
  if (handle === null) return null;
  const s = await handle.stat();
  // Where /proc exists it names what was really opened; elsewhere the check before has to do.
  const really = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => place.path);
  if (!s.isFile() || !within(place.root, really) || ours(place, really)) {
    await handle.close();
    return null;
  }
  return { handle, name: place.path.slice(place.path.lastIndexOf(sep) + 1), size: s.size };
};
