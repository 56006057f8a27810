import { describe, expect, it } from 'vitest';
import { manualClock } from '../../test/support/manual-clock.ts';
import type { EventRow } from '../contract/events.ts';
import { silentLog } from '../kernel/log.ts';
import type { Store } from '../store/store.ts';
import { createFeed } from './feed.ts';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** An event table, as the store reads it: `first` and `last` of what is kept, pages in id order. */
const table = (from = 1, to = 0) => {
  const state = { events: [] as EventRow[], high: to, reads: 0, fail: false };
  const add = (id: number) =>
    state.events.push({
      id,
      at: id,
      type: 'execution.queued',
      execution_id: `e${id}`,
      agent_name: 'writer',
      data: { text: 'two\nlines' },
    });
  for (let id = from; id <= to; id++) add(id);
  const store = {
    read: async (_: string, { after, limit }: { after: number; limit: number }) => {
      state.reads++;
      if (state.fail) throw new Error('the store is away');
      await settled();
      return {
        events: state.events.filter((e) => e.id > after).slice(0, limit),
        first: state.events[0]?.id ?? null,
        last: state.high,
      };
    },
  } as unknown as Pick<Store, 'read'>;
  return {
    state,
    store,
    append(n: number): number {
      for (let i = 0; i < n; i++) add(++state.high);
      return state.high;
    },
    forget(upTo: number) {
      state.events = state.events.filter((e) => e.id > upTo);
    },
  };
};

const watcher = () => {
  const seen = { ids: [] as number[], lines: [] as string[], resets: [] as number[] };
  return {
    seen,
    send: (event: EventRow, line: string) => {
      seen.ids.push(event.id);
      seen.lines.push(line);
    },
    reset: (last: number) => void seen.resets.push(last),
    until: async (count: number) => {
      while (seen.ids.length + seen.resets.length < count) await settled();
    },
  };
};
const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const feedOver = (t: ReturnType<typeof table>) =>
  createFeed({ store: t.store, kernel: { clock: manualClock(), log: silentLog } });

describe('the feed of events', () => {
  it('gives news to every watcher, with the frame made once and the table read once for all', async () => {
    const t = table();
    const feed = await feedOver(t);
    const all = Array.from({ length: 50 }, watcher);
    for (const w of all) feed.subscribe(feed.last, w.send, w.reset);
    await settled();
    const before = t.state.reads;
    feed.stir({ last_event: t.append(3) });
    for (const w of all) await w.until(3);
    expect(all.every((w) => w.seen.ids.join() === '1,2,3')).toBe(true);
    expect(t.state.reads - before).toBe(1);
    expect(all.every((w) => Object.is(w.seen.lines[0], all[0]!.seen.lines[0]))).toBe(true);
    expect(feed.last).toBe(3);
  });

  it('makes frames that carry the id for resuming and keep newlines inside the JSON', async () => {
    const t = table();
    const feed = await feedOver(t);
    const w = watcher();
    feed.subscribe(0, w.send, w.reset);
    feed.stir({ last_event: t.append(1) });
    await w.until(1);
    const [line] = w.seen.lines;
    expect(line).toMatch(/^id: 1\ndata: \{.*\}\n\n$/);
    expect(JSON.parse(line!.split('data: ')[1]!)).toEqual(t.state.events[0]);
  });

  it('brings a watcher from the past up to date while new events come in, each once and in order', async () => {
    const t = table(1, 1_700);
    const feed = await feedOver(t);
    const w = watcher();
    feed.subscribe(0, w.send, w.reset);
    for (let i = 0; i < 8; i++) {
      feed.stir({ last_event: t.append(100) });
      await settled();
    }
    await w.until(2_500);
    expect(w.seen.ids).toEqual(ids(1, 2_500));
    expect(w.seen.resets).toEqual([]);
  });

  it('serves a short break from memory', async () => {
    const t = table();
    const feed = await feedOver(t);
    const first = watcher();
    feed.subscribe(0, first.send, first.reset);
    feed.stir({ last_event: t.append(300) });
    await first.until(300);
    const before = t.state.reads;
    const back = watcher();
    feed.subscribe(290, back.send, back.reset);
    await back.until(10);
    expect(back.seen.ids).toEqual(ids(291, 300));
    expect(t.state.reads).toBe(before);
  });

  it('loses and repeats nothing over a long burst that outgrows its memory', async () => {
    const t = table();
    const feed = await feedOver(t);
    const w = watcher();
    feed.subscribe(0, w.send, w.reset);
    feed.stir({ last_event: t.append(9_000) });
    await w.until(9_000);
    const late = watcher();
    feed.subscribe(10, late.send, late.reset);
    await late.until(8_990);
    expect(w.seen.ids).toEqual(ids(1, 9_000));
    expect(late.seen.ids).toEqual(ids(11, 9_000));
  });

  it('reads nothing while nobody watches, and whoever comes then misses nothing', async () => {
    const t = table();
    const feed = await feedOver(t);
    const first = watcher();
    const leave = feed.subscribe(feed.last, first.send, first.reset);
    feed.stir({ last_event: t.append(3) });
    await first.until(3);
    leave();
    const before = t.state.reads;
    for (let i = 0; i < 5; i++) {
      feed.stir({ last_event: t.append(10) });
      await settled();
    }
    expect(t.state.reads).toBe(before);
    expect(feed.last).toBe(53);
    const [back, fresh] = [watcher(), watcher()];
    feed.subscribe(2, back.send, back.reset);
    feed.subscribe(feed.last, fresh.send, fresh.reset);
    await back.until(51);
    feed.stir({ last_event: t.append(1) });
    await Promise.all([back.until(52), fresh.until(1)]);
    expect(back.seen.ids).toEqual(ids(3, 54));
    expect(fresh.seen.ids).toEqual([54]);
  });

  it('says reset to a watcher that is older than what is kept, then goes on from now', async () => {
    const t = table(1, 100);
    t.forget(50);
    const feed = await feedOver(t);
    const [old, justIn, ahead] = [watcher(), watcher(), watcher()];
    feed.subscribe(49, old.send, old.reset);
    feed.subscribe(50, justIn.send, justIn.reset);
    feed.subscribe(7_000, ahead.send, ahead.reset);
    await Promise.all([old.until(1), justIn.until(50), ahead.until(1)]);
    expect(old.seen).toMatchObject({ ids: [], resets: [100] });
    expect(justIn.seen).toMatchObject({ ids: ids(51, 100), resets: [] });
    expect(ahead.seen).toMatchObject({ ids: [], resets: [100] });
    feed.stir({ last_event: t.append(1) });
    await Promise.all([old.until(2), ahead.until(2)]);
    expect(old.seen.ids).toEqual([101]);
    expect(ahead.seen.ids).toEqual([101]);
  });

  it('stops at once for a watcher that leaves, even in the middle of a page', async () => {
    const t = table(1, 400);
    const feed = await feedOver(t);
    const w = watcher();
    const leave = feed.subscribe(
      0,
      (event, line) => {
        w.send(event, line);
        if (event.id === 5) leave();
      },
      w.reset,
    );
    await w.until(5);
    feed.stir({ last_event: t.append(1) });
    for (let i = 0; i < 5; i++) await settled();
    expect(w.seen.ids).toEqual([1, 2, 3, 4, 5]);
  });

  it('drops a watcher that throws and goes on with the others', async () => {
    const t = table();
    const feed = await feedOver(t);
    const w = watcher();
    feed.subscribe(
      0,
      () => {
        throw new Error('broken watcher');
      },
      w.reset,
    );
    feed.subscribe(0, w.send, w.reset);
    feed.stir({ last_event: t.append(2) });
    await w.until(2);
    expect(w.seen.ids).toEqual([1, 2]);
  });

  it('reads on after the store failed for a moment, without losing an event', async () => {
    const t = table();
    const clock = manualClock();
    const feed = await createFeed({ store: t.store, kernel: { clock, log: silentLog } });
    const w = watcher();
    feed.subscribe(0, w.send, w.reset);
    await settled();
    t.state.fail = true;
    feed.stir({ last_event: t.append(2) });
    await clock.advance(10);
    t.state.fail = false;
    await clock.advance(1_000);
    await w.until(2);
    expect(w.seen.ids).toEqual([1, 2]);
  });
});
