/**
 * Follows the stream files of one attempt: wakes by inotify, reads in batches, cuts slices into the journal and hands every
 * line to the evidence, in the order in which the journal keeps it. After a restart it begins with what the journal has. A
 * slow reader never blocks the agent; nothing is held back: what stands in the files is the truth.
 */
import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../kernel/clock.ts';
import { type Line, type LineSplitter, splitLines } from '../kernel/lines.ts';
import type { Log } from '../kernel/log.ts';
import type { Journal, Slice } from './journal.ts';
import { type StreamName, type Streams, streamNames } from './streams.ts';

/** Behind inotify, which may be out of watches or on a file system without it (p99 of a wake by inotify: 1.4 ms). */
const pollMs = 1_000;
const chunkBytes = 256 * 1024;

interface TailParts {
  dir: string;
  streams: Streams;
  journal: Journal;
  clock: Clock;
  log: Log;
  /** How long lines are gathered before a slice is cut. */
  delayMs(): number;
  /** Bytes of both streams together that are read; more is `log_limit`. */
  logBytes: number;
  onLine(stream: StreamName, text: string, at: number): void;
  onSlice(slice: Slice): void;
  onFull(bytes: number): void;
}

export interface Tail {
  /** After the process has ended: reads what is left, the line without a newline too, and stops following. */
  finish(): Promise<void>;
  /** The runner's own words, into the transcript. */
  note(text: string): Promise<void>;
  /** Stops following where it is; the next runner goes on from the journal. */
  close(): Promise<void>;
}

export const startTail = async (p: TailParts): Promise<Tail> => {
  const splitters = {} as Record<StreamName, LineSplitter>;
  const taken: Record<StreamName, number> = { stdout: 0, stderr: 0 };
  let nextSeq = 1;
  for (const slice of p.journal.before) {
    for (const name of streamNames) {
      for (const line of await p.streams.lines(name, ...slice[name])) p.onLine(name, line.text, slice.at);
      taken[name] = Math.max(taken[name], slice[name][1]);
    }
    nextSeq = slice.seq + slice.n;
    p.onSlice(slice);
  }
  for (const name of streamNames) splitters[name] = splitLines(taken[name]);

  let full = false;
  const cut = async (lines: Record<StreamName, Line[]>): Promise<void> => {
    const n = lines.stdout.length + lines.stderr.length;
    if (n === 0) return;
    const range = (name: StreamName): [number, number] => [taken[name], lines[name].at(-1)?.end ?? taken[name]];
    const slice: Slice = {
      seq: nextSeq,
      n,
      at: p.clock.now(),
      stdout: range('stdout'),
      stderr: range('stderr'),
      note: null,
    };
    await keep(slice);
    for (const name of streamNames) {
      taken[name] = slice[name][1];
      for (const line of lines[name]) p.onLine(name, line.text, slice.at);
    }
    p.onSlice(slice);
  };
  const keep = async (slice: Slice) => {
    nextSeq = slice.seq + slice.n;
    // Without its record a slice may be cut differently after a restart; better than to lose the evidence now.
    await p.journal.append(slice).catch((error) => p.log.warn('a transcript record could not be written', { error }));
  };

  /** One round over both files; true when there is more. */
  const readOnce = async (): Promise<boolean> => {
    const lines: Record<StreamName, Line[]> = { stdout: [], stderr: [] };
    let more = false;
    for (const name of streamNames) {
      const splitter = splitters[name];
      const size = await p.streams.size(name);
      if (full) {
        // Stopped for its log and still writing: the disk must not fill up meanwhile.
        if (size > splitter.at + p.logBytes) await p.streams.trim(name, splitter.at);
        continue;
      }
      const chunk = await p.streams.read(name, splitter.at, Math.min(chunkBytes, size - splitter.at));
      lines[name] = splitter.push(chunk);
      more ||= splitter.at < size;
    }
    const read = splitters.stdout.at + splitters.stderr.at;
    await cut(lines);
    if (!full && read > p.logBytes) {
      full = true;
      p.onFull(read);
    }
    return more && !full;
  };

  let work: Promise<void> = Promise.resolve();
  let closed = false;
  const serially = (step: () => Promise<void>): Promise<void> => {
    work = work.then(step);
    return work;
  };
  const drain = async () => {
    try {
      while (await readOnce());
    } catch (error) {
      p.log.error('the output of an attempt could not be read', { error });
    }
  };

  const watchers = new Map<StreamName, FSWatcher>();
  let cancelPoll = () => {};
  let cancelWake: (() => void) | null = null;
  const wakeSoon = () => {
    if (closed || cancelWake !== null) return;
    cancelWake = p.clock.after(p.delayMs(), () => {
      cancelWake = null;
      if (!closed) void serially(drain);
    });
  };
  const follow = () => {
    for (const name of streamNames) {
      if (watchers.has(name)) continue;
      try {
        const watcher = watch(join(p.dir, name), { persistent: false }, wakeSoon);
        watcher.on('error', () => watchers.delete(name));
        watchers.set(name, watcher);
      } catch {
        // Not there yet, or no watch to be had: the poll sees it.
      }
    }
  };
  const poll = () => {
    if (closed) return;
    follow();
    wakeSoon();
    cancelPoll = p.clock.after(pollMs, poll);
  };
  poll();

  const stopFollowing = () => {
    closed = true;
    cancelPoll();
    cancelWake?.();
    for (const watcher of watchers.values()) watcher.close();
  };
  return {
    async finish() {
      stopFollowing();
      await serially(async () => {
        await drain();
        if (full) return;
        const rest = (name: StreamName) => [splitters[name].rest()].filter((l) => l !== null);
        await cut({ stdout: rest('stdout'), stderr: rest('stderr') });
      });
    },
    note: (text) =>
      serially(async () => {
        const slice: Slice = {
          seq: nextSeq,
          n: 1,
          at: p.clock.now(),
          stdout: [taken.stdout, taken.stdout],
          stderr: [taken.stderr, taken.stderr],
          note: text,
        };
        await keep(slice);
        p.onSlice(slice);
      }),
    async close() {
      stopFollowing();
      await work;
    },
  };
};
