import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { describe, expect, it } from 'vitest';
import { createRefresher, readAgain } from './live.ts';

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

it('asks again when the event came while an older answer was under way', async () => {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 60_000 } } });
  const answers: ((status: string) => void)[] = [];
  const panel = new QueryObserver<string>(queries, {
    queryKey: ['execution', 'e1'],
    queryFn: () => new Promise<string>((resolve) => answers.push(resolve)),
  });
  const leave = panel.subscribe(() => {});
  const read = readAgain(queries, [['execution', 'e1']]);
  answers[0]!('running');
  await new Promise((resolve) => setImmediate(resolve));
  expect(answers).toHaveLength(2);
  answers[1]!('success');
  await read;
  expect(panel.getCurrentResult().data).toBe('success');
  leave();
  queries.clear();
});
