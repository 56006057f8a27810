/**
 * `GET /api/events`: every change as server-sent events, in id order, resumable. The frames are made once by the feed and
 * written to all; a reader that falls behind is taken off the feed until its line is free again, then goes on where it was, so
 * that it neither fills this server's memory nor holds up the others.
 */
import { z } from 'zod';
import type { OpenRequests } from '../open-requests.ts';
import type { RouteModule } from '../route.ts';
import { openSse, type Sse } from '../sse.ts';

/** One timer for all lines. A reader takes a line for dead after 45 s of silence. */
const beatMs = 15_000;
/** So long may a reader take nothing at all before its line is cut; it resumes by its last id. */
const stuckMs = 60_000;

const EventsQuery = z.object({ after: z.coerce.number().int().min(0).optional() });

export const eventRoutes =
  (open: OpenRequests): RouteModule =>
  (deps) =>
  async (app) => {
    const { clock } = deps.kernel;
    const idle = new Set<Sse>();
    let cancelBeat = () => {};
    const beat = () => {
      for (const sse of idle) sse.write(': beat\n\n');
      cancelBeat = clock.after(beatMs, beat);
    };
    app.addHook('onReady', async () => beat());
    app.addHook('onClose', async () => cancelBeat());

    app.get(
      '/api/events',
      {
        config: { needs: 'view', streams: true },
        schema: {
          tags: ['Events'],
          summary: 'Every change as server-sent events; goes on after Last-Event-ID or ?after=, else from now',
          querystring: EventsQuery,
        },
      },
      (request, reply) => {
        const after = lastEventId(request.headers['last-event-id']) ?? request.query.after ?? deps.feed.last;
        const gone = open.signalOf(reply);
        const sse = openSse(reply);
        // The place alone, without data: no event, yet a browser that is cut before the first change resumes from here.
        sse.write(`id: ${Math.max(0, after)}\n\n`);
        let at = after;
        let leave = () => {};
        const subscribe = () => {
          idle.add(sse);
          leave = deps.feed.subscribe(
            at,
            (event, line) => {
              at = event.id;
              if (!sse.write(line)) rest();
            },
            (last) => {
              at = last;
              const data = JSON.stringify({ type: 'reset', last });
              if (!sse.write(`id: ${last}\nevent: reset\ndata: ${data}\n\n`)) rest();
            },
          );
        };
        /** Off the feed until the reader has taken what was written. */
        const rest = () => {
          leave();
          idle.delete(sse);
          const cancel = clock.after(stuckMs, () => reply.raw.destroy());
          sse.drained().then((ok) => {
            cancel();
            if (ok && !gone.aborted) subscribe();
          });
        };
        gone.addEventListener(
          'abort',
          () => {
            leave();
            idle.delete(sse);
            sse.end();
          },
          { once: true },
        );
        if (gone.aborted) return sse.end();
        subscribe();
      },
    );
  };

/** What is no id of this stream is older than everything: the reader is told to reset. */
const lastEventId = (header: string | string[] | undefined): number | null => {
  if (header === undefined || header === '') return null;
  const id = Number(header);
  return Number.isSafeInteger(id) && id >= 0 ? id : -1;
};
