import { describe, expect, it } from 'vitest';
import { createRefresher } from './live.ts';

describe('reading again what is stale', () => {
  it('reads at once, gathers what comes meanwhile into one round, and then stops', async () => {
    const rounds: string[][] = [];
    const answers: (() => void)[] = [];
    const touch = createRefresher(
      (stale) => {
        rounds.push(stale.map((k) => k.join('/')));
        return new Promise<void>((resolve) => answers.push(resolve));
      },
      () => Promise.resolve(),
    );
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    touch([['limits']]);
    expect(rounds).toEqual([['limits']]);
    for (let i = 0; i < 100; i++) touch([['executions', 'queued'], ['limits']]);
    await settle();
    expect(rounds).toHaveLength(1);
    answers[0]!();
    await settle();
    expect(rounds).toEqual([['limits'], ['executions/queued', 'limits']]);
    answers[1]!();
    await settle();
    expect(rounds).toHaveLength(2);
    touch([['agents']]);
    expect(rounds).toHaveLength(3);
  });

  it('rests after a round as long as it took, so that a slow server is not driven', async () => {
    let now = 0;
    const rests: number[] = [];
    const touch = createRefresher(
      async () => {
        now += 900;
      },
      async (tookMs) => void rests.push(tookMs),
      () => now,
    );
    touch([['a']]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(rests).toEqual([900]);
  });

  it('goes on after a read that failed', async () => {
    let reads = 0;
    const touch = createRefresher(
      () => (++reads === 1 ? Promise.reject(new Error('no')) : Promise.resolve()),
      () => Promise.resolve(),
    );
    touch([['a']]);
    await new Promise((resolve) => setImmediate(resolve));
    touch([['b']]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(reads).toBe(2);
  });
});
