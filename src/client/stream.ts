/**
 * Server-sent events over fetch (EventSource can neither send a bearer token nor tell a 401 from a dropped line). One
 * iterator that never ends by itself: it reconnects with the last id it has seen, so that no event is missed or repeated,
 * and says when the line is up and when it is down. It stops at its signal, and throws only what trying again cannot mend.
 */
import { createParser } from 'eventsource-parser';
import { type Pause, watchdog } from './pause.ts';
import { ApiError, type Ask, errorFrom, send, type Wire } from './request.ts';

interface Message {
  id: string | null;
  event: string | null;
  data: string;
}

type StreamItem =
  /** Connected; `first` is false after a drop: what was read before may be stale. */
  | { kind: 'up'; first: boolean }
  | { kind: 'message'; message: Message }
  | { kind: 'down'; error: Error; retryMs: number };

interface StreamOptions {
  query?: Ask['query'];
  lastId?: string | null;
  signal?: AbortSignal;
  pause: Pause;
  /** A line without a byte for this long is dead: the server comments every 15 s. */
  idleMs?: number;
}

const firstRetryMs = 500;
const lastRetryMs = 10_000;
/** 401, 403, 404, 422: asking again gives the same answer. 408 and 429 pass. */
const isFinal = (e: unknown): boolean =>
  e instanceof ApiError && e.status >= 400 && e.status < 500 && e.status !== 408 && e.status !== 429;

/** One connection: yields its messages till it closes; throws when it breaks or stands still. */
async function* connection(
  wire: Wire,
  path: string,
  lastId: string | null,
  o: StreamOptions,
): AsyncGenerator<Message | 'up' | { place: string }> {
  const gone = new AbortController();
  const stop = () => gone.abort();
  o.signal?.addEventListener('abort', stop, { once: true });
  const watch = watchdog(o.idleMs ?? 45_000, stop);
  try {
    if (o.signal?.aborted) return;
    const response = await send(wire, path, {
      query: o.query ?? {},
      timeoutMs: 0,
      signal: gone.signal,
      headers: { accept: 'text/event-stream', ...(lastId === null ? {} : { 'last-event-id': lastId }) },
    });
    if (!response.ok) {
      const text = await response.text();
      let body: unknown = text;
      try {
        body = JSON.parse(text);
      } catch {}
      throw errorFrom(response.status, response.headers, body);
    }
    if (response.body === null) throw new Error('The answer has no body.');
    yield 'up';
    const ready: (Message | { place: string })[] = [];
    const parser = createParser({
      // An id without data: the server's first frame tells from where to go on, before anything has happened.
      onId: (id) => ready.push({ place: id }),
      onEvent: (e) => ready.push({ id: e.id ?? null, event: e.event ?? null, data: e.data }),
    });
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      watch.touch();
      parser.feed(decoder.decode(value, { stream: true }));
      yield* ready.splice(0);
    }
  } finally {
    watch.end();
    gone.abort();
    o.signal?.removeEventListener('abort', stop);
  }
}

export async function* follow(wire: Wire, path: string, o: StreamOptions): AsyncGenerator<StreamItem> {
  let lastId = o.lastId ?? null;
  let failures = 0;
  let first = true;
  while (!o.signal?.aborted) {
    let error = new Error('The line closed.');
    try {
      for await (const item of connection(wire, path, lastId, o)) {
        failures = 0;
        if (item === 'up') {
          yield { kind: 'up', first };
          first = false;
        } else if ('place' in item) lastId = item.place;
        else {
          yield { kind: 'message', message: item };
        }
      }
    } catch (thrown) {
      if (o.signal?.aborted) return;
      if (isFinal(thrown)) throw thrown;
      error = thrown instanceof Error ? thrown : new Error(String(thrown));
    }
    if (o.signal?.aborted) return;
    const asked = error instanceof ApiError ? error.retryAfterMs : null;
    const retryMs = asked ?? Math.min(lastRetryMs, firstRetryMs * 2 ** failures);
    failures++;
    yield { kind: 'down', error, retryMs };
    await o.pause(retryMs, o.signal);
  }
}
