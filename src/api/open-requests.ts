/**
 * The long requests of a group of routes: each gets a signal that fires when its client has gone, or when the server closes.
 * A closing server so answers every waiting call with the id it may go on with, instead of cutting the line; a client that
 * goes away takes nothing with it but its own wait. The signal's reason tells which it was: `serverCloses`, or the client.
 *
 * A signal is made when it is asked for: an abort costs an exception with its stack, and most requests never wait.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { serverCloses } from '../flow/call.ts';
import type { Clock } from '../kernel/clock.ts';

interface OpenRequest {
  /** For whoever waits on behalf of this request. */
  readonly signal: AbortSignal;
}

export interface OpenRequests {
  /** Until its answer is out, a closing server waits for it. */
  opened(reply: FastifyReply): OpenRequest;
  signalOf(reply: FastifyReply): AbortSignal;
}

/** Answering a wait is one read and one write: two seconds are a slow disk, not a wait. */
const leaveMs = 2_000;

export const openRequests = (app: FastifyInstance, clock: Clock): OpenRequests => {
  const open = new Set<{ leave(reason?: unknown): void }>();
  let closing = false;
  let lastLeft = () => {};
  app.addHook('preClose', async () => {
    closing = true;
    for (const request of open) request.leave(serverCloses);
    if (open.size === 0) return;
    let cancel = () => {};
    await Promise.race([
      new Promise<void>((resolve) => {
        lastLeft = resolve;
      }),
      new Promise<void>((resolve) => {
        cancel = clock.after(leaveMs, resolve);
      }),
    ]);
    cancel();
  });

  const opened = (reply: FastifyReply): OpenRequest => {
    let controller: AbortController | null = null;
    let over: { reason: unknown } | null =
      closing || reply.raw.destroyed ? { reason: closing ? serverCloses : undefined } : null;
    const request = {
      leave(reason?: unknown) {
        over ??= { reason };
        controller?.abort(reason);
      },
      get signal() {
        if (controller === null) {
          controller = new AbortController();
          if (over !== null) controller.abort(over.reason);
        }
        return controller.signal;
      },
    };
    open.add(request);
    reply.raw.once('close', () => {
      open.delete(request);
      request.leave();
      if (open.size === 0) lastLeft();
    });
    return request;
  };
  return { opened, signalOf: (reply) => opened(reply).signal };
};
