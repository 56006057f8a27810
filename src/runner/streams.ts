/**
 * The two stream files of an attempt, read by offset. They are the truth of what an agent printed: evidence and transcript
 * are made from them, and made again from them after a restart. A file that is not there yet reads as empty.
 */
import { type FileHandle, open, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { type Line, splitLines } from '../kernel/lines.ts';

export const streamNames = ['stdout', 'stderr'] as const;
export type StreamName = (typeof streamNames)[number];

export interface Streams {
  size(name: StreamName): Promise<number>;
  /** At most `max` bytes from `from`; shorter only at the end of the file. */
  read(name: StreamName, from: number, max: number): Promise<Buffer>;
  /** The lines of a range that begins at the start of a line. The last one may lack its newline. */
  lines(name: StreamName, from: number, to: number): Promise<Line[]>;
  /** Gives disk space back behind `size`: for a run that writes on while it is being stopped for its log. */
  trim(name: StreamName, size: number): Promise<void>;
  close(): Promise<void>;
}

const chunkBytes = 256 * 1024;

export const openStreams = (dir: string): Streams => {
  const handles = new Map<StreamName, FileHandle>();
  let closed = false;
  const handle = async (name: StreamName): Promise<FileHandle | null> => {
    const known = handles.get(name);
    if (known) return known;
    if (closed) return null;
    try {
      const opened = await open(join(dir, name), 'r');
      handles.set(name, opened);
      return opened;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  };
  const read = async (name: StreamName, from: number, max: number): Promise<Buffer> => {
    const file = await handle(name);
    if (file === null || max <= 0) return Buffer.alloc(0);
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(max), 0, max, from);
    return buffer.subarray(0, bytesRead);
  };
  return {
    size: async (name) => (await (await handle(name))?.stat())?.size ?? 0,
    read,
    async lines(name, from, to) {
      const splitter = splitLines(from);
      const lines: Line[] = [];
      while (splitter.at < to) {
        const chunk = await read(name, splitter.at, Math.min(chunkBytes, to - splitter.at));
        if (chunk.length === 0) break;
        lines.push(...splitter.push(chunk));
      }
      const rest = splitter.rest();
      return rest ? [...lines, rest] : lines;
    },
    trim: (name, size) => truncate(join(dir, name), size),
    async close() {
      closed = true;
      for (const opened of handles.values()) await opened.close();
      handles.clear();
    },
  };
};
