/**
 * One life of the simulated server: the real parts (submit, dispatch, claims, leases, outcome, settle, sweeps, feed) on the
 * simulated disk and time. `crash` is kill -9: its timers stop, its open writes are on disk or not, nobody is answered.
 */
import { readConfig } from '../../src/config.ts';
import { limits } from '../../src/contract/limits.ts';
import type { ProofOfLife } from '../../src/contract/runner-protocol.ts';
import type { Dispatcher } from '../../src/dispatch/dispatcher.ts';
import { startSweeps } from '../../src/dispatch/sweeps.ts';
import type { Deps, Feed } from '../../src/flow/deps.ts';
import { timeOrderedIds } from '../../src/kernel/ids.ts';
import type { Log } from '../../src/kernel/log.ts';
import { commit } from '../../src/record/commit.ts';
import { joinParts } from '../../src/server/parts.ts';
import type { Chance } from './chance.ts';
import type { Disk } from './disk.ts';
import type { Time } from './time.ts';

export interface Server {
  deps: Deps;
  dispatcher: Dispatcher;
  feed: Feed;
  startedAt: number;
  crash(): void;
}

/** Short, so that a history can wait for it; longer than a lease. */
export const graceS = 60;

export const startServer = async (w: {
  disk: Disk;
  time: Time;
  chance: Chance;
  log: Log;
  env: Record<string, string>;
  /** The host it shares with a runner. */
  host: { name: string; bootId: string; alive(proof: ProofOfLife): boolean };
}): Promise<Server> => {
  let living = true;
  const clock = w.time.clock();
  const random = w.chance;
  const store = w.disk.storeOf(() => living);
  const config = readConfig({ DROVER_HOME: w.disk.home, DROVER_RUNNER_GRACE_S: String(graceS), ...w.env });
  const kernel = { clock, log: w.log, random, ids: timeOrderedIds(random, await store.read('newest_id', {})) };
  const { deps, feed, dispatcher } = await joinParts(config, kernel, store);
  await commit(deps, 'adopt_leases', { lease_ms: limits.leaseMs });
  startSweeps(deps, w.host);
  return {
    deps,
    dispatcher,
    feed,
    startedAt: clock.steady(),
    crash() {
      living = false;
      clock.stop();
    },
  };
};
