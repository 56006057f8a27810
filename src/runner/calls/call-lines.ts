/**
 * The clients of one attempt: wakes by inotify, reads what each has said (call-pipe.ts) and hands it to its relay, writes what it is
 * told. Everything stands in the two files, so a restarted runner asks again what has no answer, and nothing twice. The files
 * are the agent's: what is no plain file of its user is left alone.
 */
import { constants, existsSync, type FSWatcher, statSync, watch } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Kernel } from '../../kernel/kernel.ts';
import { type LineSplitter, splitLines } from '../../kernel/lines.ts';
import { bearerOf } from '../adapters/call-line.ts';
import { ended, statOf } from '../launchers/proc.ts';
import type { Run } from '../run.ts';
import { callsDir } from './call-pipe.ts';
import { answeredBy, type MessageId, type Relay, type RelayParts, startRelay } from './relay.ts';

/** Behind inotify, which may be out of watches or on a file system without it. */
const pollMs = 1_000;
/** A file that cannot be written (a full disk) is tried again after this. */
const againMs = 1_000;
/** A shell whose CLI is gone goes in a few ms, as soon as it reads the end of its stdin. */
const shellMs = 500;
const shellRoundMs = 5;
const chunkBytes = 256 * 1024;
/** The server takes less; an answer may carry a few texts of 4 MB. */
const longestMessage = 64 * 1024 * 1024;
/** Open at a time: a CLI has one, and another for each of its helpers. */
const clientsMost = 64;

interface CallLines {
  /** Cuts the lines; the next runner goes on. */
  close(): Promise<void>;
  /** After the process has ended: lets its shells go first, which have lost it too, so that they are not taken for work it left behind. */
  over(): Promise<void>;
}

export const openCallLines = async ({ claim, parts }: Run): Promise<CallLines> => {
  const { kernel, server } = parts;
  const dir = callsDir(parts.adapterHost.home, claim);
  // Of the directory above, which stands where the agent cannot put another in its place.
  const owner = statSync(dirname(dir), { throwIfNoEntry: false })?.uid;
  if (owner === undefined || !existsSync(dir)) return { close: async () => {}, over: async () => {} };
  const log = kernel.log.child({ attempt: claim.attempt, agent: claim.agent.name });
  const bearer = bearerOf(claim);
  const send: RelayParts['send'] = (text, callId, signal) => server.mcp(bearer, callId, text, signal);
  /** By the pid of their shell; null: hung up, or not to be read. */
  const clients = new Map<string, Client | null>();
  const unreadable = (error: unknown): null => {
    log.warn('calls of an agent cannot be read', { error });
    return null;
  };

  const look = async (): Promise<void> => {
    const entries = new Set(await readdir(dir));
    for (const entry of entries) {
      const name = /^(\d+)\.in$/.exec(entry)?.[1];
      if (name === undefined) continue;
      if (!clients.has(name) && [...clients.values()].filter((c) => c !== null).length < clientsMost) {
        const own = `${claim.attempt}-${name}`;
        const opened = openClient({ at: join(dir, name), owner, send, own, kernel });
        clients.set(name, await opened.catch(unreadable));
      }
      const client = clients.get(name);
      if (!client) continue;
      await client.read();
      if (!entries.has(`${name}.end`)) continue;
      clients.set(name, null);
      void client.hangUp();
    }
  };

  let closed = false;
  let work: Promise<void> = Promise.resolve();
  /** Looks asked for and not begun: one is enough for all. */
  let asked = false;
  const wake = () => {
    if (closed || asked) return;
    asked = true;
    work = work.then(async () => {
      asked = false;
      if (!closed) await look().catch(unreadable);
    });
  };
  let watcher: FSWatcher | null = null;
  let cancelPoll = () => {};
  const poll = () => {
    if (watcher === null)
      try {
        watcher = watch(dir, { persistent: false }, wake).on('error', () => {
          watcher = null;
        });
      } catch {
        // No watch to be had: the poll sees it.
      }
    wake();
    cancelPoll = kernel.clock.after(pollMs, poll);
  };
  poll();
  const close = async () => {
    closed = true;
    cancelPoll();
    watcher?.close();
    await work;
    await Promise.all([...clients.values()].map((client) => client?.close()));
  };
  return {
    close,
    async over() {
      const until = kernel.clock.steady() + shellMs;
      while ([...clients.keys()].some(lives) && kernel.clock.steady() < until) await kernel.clock.sleep(shellRoundMs);
      await close();
    },
  };
};

const lives = (pid: string): boolean => {
  const stat = statOf(Number(pid));
  return stat !== null && !ended(stat);
};

interface Client {
  /** Takes what has been said since. */
  read(): Promise<void>;
  hangUp(): Promise<void>;
  close(): Promise<void>;
}

interface ClientPlace {
  /** Path without its ending. */
  at: string;
  owner: number;
  send: RelayParts['send'];
  own: string;
  kernel: Kernel;
}

const openClient = async ({ at, owner, send, own, kernel }: ClientPlace): Promise<Client> => {
  const said = await openOwn(`${at}.in`, constants.O_RDONLY, owner);
  const told = await openOwn(`${at}.out`, constants.O_RDWR | constants.O_APPEND, owner).catch(async (error) => {
    await said.close();
    throw error;
  });
  const closed = new AbortController();
  let written: Promise<void> = Promise.resolve();
  const write = async (bytes: Buffer): Promise<void> => {
    for (let from = 0; from < bytes.length && !closed.signal.aborted; )
      try {
        from += (await told.write(bytes, from)).bytesWritten;
      } catch (error) {
        kernel.log.warn('an agent cannot be told the answer of its call yet', { error });
        await kernel.clock.sleep(againMs, closed.signal).catch(() => {});
      }
  };
  const say = (text: string) => {
    written = written.then(() => write(Buffer.from(text)));
  };

  const answered = new Set<MessageId>();
  const before = splitLines(0, longestMessage);
  await readFrom(told, before, (text) => {
    const id = answeredBy(text);
    if (id !== null) answered.add(id);
  });
  // A runner was killed while it wrote.
  if (before.rest() !== null) say('\n');

  const relay: Relay = startRelay({ send, own, clock: kernel.clock, say: (m) => say(`${JSON.stringify(m)}\n`) });
  const lines = splitLines(0, longestMessage);
  let first = true;
  const close = async () => {
    closed.abort();
    relay.close();
    await written;
    await Promise.all([said.close(), told.close()]);
  };
  return {
    async read() {
      const fresh: string[] = [];
      await readFrom(said, lines, (text) => fresh.push(text));
      relay.take(fresh, first ? answered : undefined);
      first = false;
    },
    async hangUp() {
      await relay.hangUp();
      await close();
    },
    close,
  };
};

/** Not through a link, not by waiting for the other end of a pipe, and never a file of somebody else. */
const openOwn = async (path: string, flags: number, owner: number): Promise<FileHandle> => {
  const handle = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const is = await handle.stat();
  if (is.isFile() && is.uid === owner) return handle;
  await handle.close();
  throw new Error(`${path} is not a plain file of the agent's user`);
};

const readFrom = async (file: FileHandle, lines: LineSplitter, each: (text: string) => void): Promise<void> => {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, chunkBytes, lines.at);
    if (bytesRead === 0) return;
    for (const line of lines.push(buffer.subarray(0, bytesRead))) each(line.text);
  }
};
