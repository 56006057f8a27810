/**
 * The one reader of the event table for all who watch: each event is read once and made into its SSE frame once, then
 * handed to every subscriber in id order, without a gap and without a repeat. A subscriber that starts in the past is
 * brought up page by page and joins the others when it has reached them; one that is older than what is kept is told to
 * reset. Told of news by every commit; reads behind it, so that no commit ever waits for a watcher, and not at all while
 * nobody watches.
 */
import type { EventRow } from '../contract/events.ts';
import type { Feed } from '../flow/deps.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { Stirred, Store } from '../store/store.ts';

/** One read: large enough that a burst of settles takes one round trip, small enough to stay under a millisecond or two. */
const pageSize = 500;
/** Kept in memory for those who resume after a short break: at most twice as many, about half a megabyte. */
const recentSize = 1_000;
const retryMs = 1_000;

interface FeedOfCommits extends Feed {
  /** Told after every commit. */
  stir(stirred: Pick<Stirred, 'last_event'>): void;
  /** Forgets all subscribers. */
  close(): void;
}

interface FeedParts {
  store: Pick<Store, 'read'>;
  kernel: Pick<Kernel, 'clock' | 'log'>;
}

interface Subscriber {
  /** The id of the newest event it has been given. */
  at: number;
  /** Has caught up: it gets what the reader gets. */
  joined: boolean;
  closed: boolean;
  send(event: EventRow, line: string): void;
  reset(last: number): void;
}

const frame = (event: EventRow): string => `id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`;

/** Begins at the newest event there is: whoever wants older ones says so with `after`. */
export const createFeed = async ({ store, kernel: { clock, log } }: FeedParts): Promise<FeedOfCommits> => {
  const subscribers = new Set<Subscriber>();
  const recent: { event: EventRow; line: string }[] = [];
  let { last } = await store.read('events_after', { after: Number.MAX_SAFE_INTEGER, limit: 1 });
  /** Everything after this id is in `recent`. */
  let recentAfter = last;
  let newest = last;
  let reading = false;
  let closed = false;

  const give = (s: Subscriber, event: EventRow, line: string) => {
    if (s.closed || event.id <= s.at) return;
    s.at = event.id;
    try {
      s.send(event, line);
    } catch (error) {
      drop(s);
      log.warn('a watcher of events failed and was dropped', { error });
    }
  };
  const drop = (s: Subscriber) => {
    s.closed = true;
    subscribers.delete(s);
  };

  const keep = (event: EventRow, line: string) => {
    recent.push({ event, line });
    // Cut in halves: a shift for every event would move the whole array each time.
    if (recent.length > 2 * recentSize) recentAfter = recent.splice(0, recentSize).at(-1)!.event.id;
    last = event.id;
  };

  /** False when there was nothing to read yet. */
  const readPage = async (): Promise<boolean> => {
    const page = await store.read('events_after', { after: last, limit: pageSize });
    for (const event of page.events) {
      const line = frame(event);
      keep(event, line);
      for (const s of subscribers) if (s.joined) give(s, event, line);
    }
    // Told of more than there is: deleted already, then it counts as seen.
    if (page.events.length === 0 && page.last >= newest) last = newest;
    return page.events.length > 0 || last === newest;
  };

  /** Nobody watches: what happens now is read from the table by whoever asks for it later. */
  const passOver = () => {
    if (newest === last) return;
    last = recentAfter = newest;
    recent.length = 0;
  };

  const wake = async () => {
    if (reading) return;
    if (subscribers.size === 0) return passOver();
    reading = true;
    try {
      while (newest > last && !closed) if (!(await readPage())) break;
    } catch (error) {
      log.error('reading events failed; it is tried again', { error });
    }
    reading = false;
    if (newest > last && !closed) clock.after(retryMs, wake);
  };

  const joinFromMemory = (s: Subscriber): boolean => {
    if (s.at < recentAfter || s.at > last) return false;
    for (const { event, line } of recent) give(s, event, line);
    s.joined = true;
    return true;
  };

  const startOver = (s: Subscriber, at: number) => {
    s.at = at;
    s.joined = true;
    s.reset(at);
  };

  const catchUp = async (s: Subscriber) => {
    while (!s.closed && !joinFromMemory(s)) {
      const page = await store.read('events_after', { after: s.at, limit: pageSize });
      if (s.closed) return;
      const missing = page.first === null ? s.at < page.last : s.at < page.first - 1;
      // Ahead of everything: an id of another installation, or of before a restored backup.
      if (missing || s.at > page.last) return startOver(s, last);
      for (const event of page.events) give(s, event, frame(event));
      if (page.events.length === 0) {
        // Level with the store, ahead of the reader: join, and the reader's own pass skips what was given.
        s.joined = true;
        return;
      }
    }
  };

  return {
    get last() {
      return last;
    },
    stir({ last_event }) {
      newest = Math.max(newest, last_event);
      void wake();
    },
    subscribe(after, send, reset) {
      const s: Subscriber = { at: after, joined: false, closed, send, reset };
      subscribers.add(s);
      const start = () => {
        catchUp(s).catch((error) => {
          log.error('bringing a watcher up to date failed; it is tried again', { error });
          if (!s.closed) clock.after(retryMs, start);
        });
      };
      // Never inside this call: the caller has no way to leave yet.
      queueMicrotask(start);
      return () => drop(s);
    },
    close() {
      closed = true;
      for (const s of [...subscribers]) drop(s);
    },
  };
};
