// Where Node 24 of this tree is. Set-up runs on Node 20 or later; everything else runs on the one that npm brought.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const node24 = () => {
  const own = join(root, 'node_modules', '.bin', 'node');
  if (existsSync(own)) return own;
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  throw new Error(
    `Node 24 is not in node_modules (package node-${process.platform}-${process.arch}). Install Node 24 and start again.`,
  );
};
