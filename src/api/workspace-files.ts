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

const within = (root: string, path: string): boolean => path === root || path.startsWith(root + sep);

/** The real path of a place inside the workspace; null when it does not exist there, or leads outside. */
const placeInside = async (root: string, path: string): Promise<{ root: string; path: string } | null> => {
  if (path.includes('\0')) return null;
  try {
    const real = { root: await realpath(root), path: await realpath(join(root, path)) };
    return within(real.root, real.path) ? real : null;
  } catch {
    return null;
  }
};

export const listTree = async (
  root: string,
  below: string,
): Promise<{ tree: FileNode[]; truncated: boolean } | null> => {
  const place = await placeInside(root, below);
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
): Promise<{ handle: FileHandle; name: string; size: number } | null> => {
  const place = await placeInside(root, path);
  if (place === null) return null;
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const handle = await open(place.path, flags).catch(() => null);
  if (handle === null) return null;
  const s = await handle.stat();
  // Where /proc exists it names what was really opened; elsewhere the check before has to do.
  const really = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => place.path);
  if (!s.isFile() || !within(place.root, really)) {
    await handle.close();
    return null;
  }
  return { handle, name: place.path.slice(place.path.lastIndexOf(sep) + 1), size: s.size };
};
