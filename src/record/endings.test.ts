import { describe, expect, it } from 'vitest';
import { manualClock } from '../../test/support/manual-clock.ts';
import type { ExecutionStatus } from '../contract/execution.ts';
import type { Store } from '../store/store.ts';
import { createEndings } from './endings.ts';

/** Rows as the store would show them; `reads` counts how often it was asked. */
const rows = (initial: Record<string, ExecutionStatus>) => {
  const state = { status: initial, reads: 0, fail: false };
  const store = {
    read: async (_: string, { id }: { id: string }) => {
      state.reads++;
      if (state.fail) throw new Error('the store is away');
      const status = state.status[id];
      return status === undefined ? null : { id, status };
    },
  } as unknown as Pick<Store, 'read'>;
  return { state, store };
};

const endingsOver = (store: Pick<Store, 'read'>, clock = manualClock()) => createEndings({ store, kernel: { clock } });

describe('waiting for an ending', () => {
  it('answers at once for a row that has ended already', async () => {
    const { store } = rows({ a: 'failed' });
    expect(await endingsOver(store).wait('a', null)).toBe(true);
  });

  it('answers every waiter of a row when its commit is told, and no other', async () => {
    const { store } = rows({ a: 'running', b: 'running' });
    const endings = endingsOver(store);
    const answers: string[] = [];
    const waits = [
      endings.wait('a', null).then((ended) => answers.push(`a1 ${ended}`)),
      endings.wait('a', null).then((ended) => answers.push(`a2 ${ended}`)),
    ];
    const other = new AbortController();
    const b = endings.wait('b', null, other.signal);
    endings.stir({ ended: ['a'], resumed: [], requeued: [] });
    await Promise.all(waits);
    expect(answers).toEqual(['a1 true', 'a2 true']);
    other.abort();
    expect(await b).toBe(false);
  });

  it('misses no ending that falls between the look and the news', async () => {
    const { state, store } = rows({ a: 'running' });
    const endings = endingsOver(store);
    // The store still shows the old state to the first look, and the news comes before that look is answered.
    const wait = endings.wait('a', 1000);
    state.status.a = 'success';
    endings.stir({ ended: ['a'], resumed: [], requeued: [] });
    expect(await wait).toBe(true);
  });

  it('gives up after its bound, by the clock it was given, and leaves nothing behind', async () => {
    const { state, store } = rows({ a: 'queued' });
    const clock = manualClock();
    const endings = endingsOver(store, clock);
    const wait = endings.wait('a', 2_000);
    await clock.advance(1_999);
    endings.stir({ ended: ['b'], resumed: [], requeued: [] });
    await clock.advance(1);
    expect(await wait).toBe(false);
    const before = state.reads;
    await clock.advance(60_000);
    expect(state.reads).toBe(before);
  });

  it('leaves what is put aside: asked after a second in the queue, and at the news of a return to it', async () => {
    const { state, store } = rows({ a: 'queued', b: 'running' });
    const clock = manualClock();
    const endings = endingsOver(store, clock);
    const asked: string[] = [];
    const aside = async (id: string) => asked.push(id) > 1;
    const a = endings.wait('a', null, undefined, aside);
    await clock.advance(999);
    expect(asked).toEqual([]);
    await clock.advance(1);
    expect(asked).toEqual(['a']);
    await clock.advance(15_000);
    expect(await a).toBe(false);
    const b = endings.wait('b', null, undefined, aside);
    await clock.advance(60_000);
    expect(asked).toEqual(['a', 'a']);
    state.status.b = 'queued';
    endings.stir({ ended: [], resumed: [], requeued: ['b'] });
    expect(await b).toBe(false);
  });

  it('gives up when its client goes away', async () => {
    const { store } = rows({ a: 'running' });
    const gone = new AbortController();
    const wait = endingsOver(store).wait('a', null, gone.signal);
    gone.abort();
    expect(await wait).toBe(false);
    expect(await endingsOver(store).wait('a', null, gone.signal)).toBe(false);
  });

  it('finds an ending whose news was lost', async () => {
    const { state, store } = rows({ a: 'running' });
    const clock = manualClock();
    const wait = endingsOver(store, clock).wait('a', null);
    await clock.advance(1);
    state.status.a = 'cancelled';
    await clock.advance(15_000);
    expect(await wait).toBe(true);
  });

  it('says false for a row that does not exist, and fails when the store does', async () => {
    const { state, store } = rows({});
    const endings = endingsOver(store);
    expect(await endings.wait('nobody', null)).toBe(false);
    state.fail = true;
    await expect(endings.wait('a', null)).rejects.toThrow('the store is away');
  });
});
