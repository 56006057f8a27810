/**
 * The long requests of a group of routes: each gets a signal that fires when its client has gone, or when the server closes.
 * A closing server so answers every waiting call with the id it may go on with, instead of cutting the line; a client that
 * goes away takes nothing with it but its own wait. The signal's reason tells which it was: `serverCloses`, or the client.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { serverCloses } from '../flow/call.ts';
import type { Clock } from '../kernel/clock.ts';

export interface OpenRequests {
  signalOf(reply: FastifyReply): AbortSignal;
}

/** Answering a wait is one read and one write: two seconds are a slow disk, not a wait. */
const leaveMs = 2_000;

export const openRequests = (app: FastifyInstance, clock: Clock): OpenRequests => {
  const open = new Map<AbortController, Promise<void>>();
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
    for (const controller of open.keys()) controller.abort(serverCloses);
    if (open.size === 0) return;
    let cancel = () => {};
    await Promise.race([
      Promise.all(open.values()),
      new Promise<void>((resolve) => {
        cancel = clock.after(leaveMs, resolve);
      }),
    ]);
    cancel();
  });
  return {
    signalOf(reply) {
      const controller = new AbortController();
      if (closing || reply.raw.destroyed) controller.abort(closing ? serverCloses : undefined);
      open.set(
        controller,
        new Promise((resolve) => {
          reply.raw.once('close', () => {
            open.delete(controller);
            controller.abort();
            resolve();
          });
        }),
      );
      return controller.signal;
    },
  };
};
