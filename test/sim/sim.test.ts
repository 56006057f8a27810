/** Seeded histories against the real dispatch, outcome and settle code: `npm run sim -- --seeds N` plays more of them. */
import { afterAll, expect, it } from 'vitest';
import { verifies } from '../support/verifies.ts';
import { type Disk, openDisk } from './disk.ts';
import { type Failure, play, shrink } from './play.ts';
import { historyOf } from './steps.ts';

const disk: Disk = openDisk();
afterAll(() => disk.end());

/** A thousand in one test, so that a report says which thousand; seconds each, and the seeds are always the same. */
const thousand = async (first: number) => {
  const sum = { executions: 0, processes: 0, events: 0 };
  for (let seed = first; seed < first + 1_000; seed++) {
    const { failure, count } = await play(historyOf(seed), disk);
    if (failure)
      expect(await shrink(failure, disk)).toBe(`no failure; replay: npm run sim -- --seed ${seed} --seeds 1`);
    for (const k of ['executions', 'processes', 'events'] as const) sum[k] += count[k];
  }
  return sum;
};

it.each([1, 1_001])(
  verifies(
    'R8',
    'R9',
    'R17',
    'R18',
    'R22',
    'R23',
    'R24',
    'R25',
    'R34',
    'R39',
    'R40',
    'D9',
    'D30',
    'D35',
  )(
    'crashes, lost, doubled and late messages, slow disks and clock jumps lose nothing and do nothing twice, from seed %i',
  ),
  async (first) => {
    const sum = await thousand(first);
    // Histories in which nothing happens would prove nothing.
    expect(sum.executions).toBeGreaterThan(3_000);
    expect(sum.processes).toBeGreaterThan(2_500);
    expect(sum.events).toBeGreaterThan(15_000);
  },
);

/** The store answers `go` to whoever asks: what a begin without its compare-and-set would do. */
const withoutGate = async (run: () => Promise<void>) => {
  const honest = disk.storeOf;
  disk.storeOf = (alive) => {
    const store = honest(alive);
    return {
      ...store,
      write: (async (verb: Parameters<typeof store.write>[0], args: never) => {
        const written = await store.write(verb, args);
        return verb === 'begin' ? { ...written, result: { go: true, why: null } } : written;
      }) as typeof store.write,
    };
  };
  try {
    await run();
  } finally {
    disk.storeOf = honest;
  }
};

it('finds a planted fault, and shrinks it to a few steps that fail again', async () => {
  await withoutGate(async () => {
    let failure: Failure | null = null;
    for (let seed = 1; failure === null && seed < 500; seed++) failure = (await play(historyOf(seed), disk)).failure;
    const small = await shrink(failure!, disk);
    expect(small.history.steps.length).toBeLessThan(failure!.history.steps.length);
    expect(small.history.steps.length).toBeLessThan(20);
    const again = await play(small.history, disk);
    expect(again.failure?.what).toBe(small.what);
  });
});
