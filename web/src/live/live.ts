/**
 * The line to the server: each event makes stale what it touched, and what is stale is read again, in one go and never
 * faster than the server answers. After a drop everything is read again. The page only reads; the store holds the truth.
 */
import type { QueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { pause } from '../../../src/client/pause.ts';
import { ApiError } from '../../../src/client/request.ts';
import { api } from '../api.ts';
import { type Key, keys, staleAfter } from './keys.ts';

export type LineState = { kind: 'connecting' } | { kind: 'up' } | { kind: 'down'; why: string };

/** Between two rounds of reading at least. The first change after a quiet moment is read at once; in a burst once a second is enough. */
export const roundMs = 1_000;

/** One event makes all screens read: each begins at a moment of its own within this, or the server has them all in one turn. */
export const spreadMs = 200;

/** `rest` is told how long the round took: a slow server is left alone for as long again. `lag` comes before a round. */
export const createRefresher = (
  read: (stale: Key[]) => Promise<unknown>,
  rest: (tookMs: number) => Promise<void>,
  clock: () => number = () => performance.now(),
  lag: (() => Promise<void>) | null = null,
) => {
  const stale = new Map<string, Key>();
  let running = false;
  const run = async () => {
    while (stale.size > 0) {
      if (lag !== null) await lag();
      const round = [...stale.values()];
      stale.clear();
      // A read that fails is shown where it belongs; the next event or the slow poll reads again.
      const began = clock();
      await read(round).catch(() => {});
      await rest(clock() - began);
    }
    running = false;
  };
  return (touched: readonly Key[]): void => {
    for (const key of touched) stale.set(key.join('/'), key);
    if (running || stale.size === 0) return;
    running = true;
    void run();
  };
};

/**
 * An answer under way may be older than the event: it is let to end, then asked again, and never cut off, or a busy fleet
 * would keep the page from ever seeing one. Asked while it is under way, it would count as the new answer.
 */
export const readAgain = async (queries: QueryClient, stale: readonly Key[]): Promise<void> => {
  const underWay = stale.flatMap((queryKey) => queries.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' }));
  await Promise.allSettled(underWay.map((query) => query.promise));
  await Promise.all(stale.map((queryKey) => queries.invalidateQueries({ queryKey }, { cancelRefetch: false })));
};

const everything: Key[] = [keys.limits, keys.agents, keys.runners, keys.operator, ['executions'], keys.open];

export const useLive = (queries: QueryClient): LineState => {
  const [state, setState] = useState<LineState>({ kind: 'connecting' });
  useEffect(() => {
    const stop = new AbortController();
    const touch = createRefresher(
      (stale) => readAgain(queries, stale),
      (tookMs) => pause(Math.max(roundMs, tookMs)),
      () => performance.now(),
      // Of when this page was opened: no two screens have the same.
      () => pause(performance.timeOrigin % spreadMs),
    );
    const run = async () => {
      for await (const item of api.events({ signal: stop.signal })) {
        if (item.kind === 'event') touch(staleAfter(item.event));
        else if (item.kind === 'reset') touch(everything);
        else if (item.kind === 'down') setState({ kind: 'down', why: item.error.message });
        else {
          setState({ kind: 'up' });
          // Also at the first: what was read before the line stood may be stale already.
          touch(everything);
        }
      }
    };
    run().catch((e: unknown) => {
      if (stop.signal.aborted) return;
      setState({ kind: 'down', why: e instanceof Error ? e.message : String(e) });
      if (e instanceof ApiError && e.status === 401) void queries.invalidateQueries({ queryKey: keys.me });
    });
    return () => stop.abort();
  }, [queries]);
  return state;
};
