/**
 * A stream of server-sent events on one connection. `write` says whether the reader keeps up; whoever writes on while it
 * does not fills the memory of the server, so each stream stops at `false` and goes on at `drained`.
 */
import type { FastifyReply } from 'fastify';

export interface Sse {
  /** False when the reader is behind: wait for `drained`. */
  write(frames: string): boolean;
  /** Resolves when the reader has caught up; false when it has gone. */
  drained(): Promise<boolean>;
  end(): void;
}

/** Clients reconnect by themselves; two seconds keep a restart of the server from being a storm. */
const hello = 'retry: 2000\n\n';

export const openSse = (reply: FastifyReply): Sse => {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // A proxy that buffers would hold every event back.
    'x-accel-buffering': 'no',
  });
  // Small frames must not wait for one another (Nagle): the page is to move with the fleet.
  raw.socket?.setNoDelay(true);
  raw.write(hello);
  const gone = () => raw.destroyed || raw.writableEnded;
  // What is written in one turn goes out at once: a burst of events would cost a system call per event and reader.
  let held = '';
  const flush = () => {
    const frames = held;
    held = '';
    if (frames !== '' && !gone()) raw.write(frames);
  };
  return {
    write(frames) {
      if (gone()) return true;
      if (held === '') process.nextTick(flush);
      held += frames;
      return raw.writableLength + held.length < raw.writableHighWaterMark;
    },
    drained: () =>
      new Promise((resolve) => {
        flush();
        if (gone()) return resolve(false);
        if (!raw.writableNeedDrain) return resolve(true);
        const done = (ok: boolean) => () => {
          raw.off('drain', drain);
          raw.off('close', close);
          resolve(ok);
        };
        const drain = done(true);
        const close = done(false);
        raw.once('drain', drain);
        raw.once('close', close);
      }),
    end: () => {
      flush();
      if (!gone()) raw.end();
    },
  };
};

export const dataFrame = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
