/**
 * The server's parts, made and joined: who is told of a commit, with which limits claims are made. main.ts starts and stops
 * them; tests of the API take the same ones, with a clock of their own. Starts nothing.
 */
import type { Config } from '../config.ts';
import { limits } from '../contract/limits.ts';
import { loadSealer, type SealedRow } from '../credentials/key-file.ts';
import { createDispatcher } from '../dispatch/dispatcher.ts';
import type { Deps } from '../flow/deps.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { createCouriers } from '../operator/couriers.ts';
import { sealedFor } from '../operator/notify-target.ts';
import { createEndings } from '../record/endings.ts';
import { createFeed } from '../record/feed.ts';
import { createFleetLimits } from '../record/fleet-limits.ts';
import { createKnownAgents } from '../record/known-agents.ts';
import { createTicker } from '../schedule/ticker.ts';
import type { Store } from '../store/store.ts';

const sealedRows = async (store: Store): Promise<SealedRow[]> => {
  const target = await store.read('notify_target', {});
  return [
    ...(await store.read('credentials', {})).flatMap(({ id, name, sealed }) =>
      sealed === null ? [] : [{ id, name: `credential ${name}`, sealed }],
    ),
    ...(target === null ? [] : [{ id: sealedFor, name: 'the target of notifications', sealed: target.sealed }]),
  ];
};

export const joinParts = async (config: Readonly<Config>, kernel: Kernel, store: Store) => {
  const feed = await createFeed({ store, kernel });
  const endings = createEndings({ store, kernel });
  const fleetLimits = createFleetLimits({ store, config });
  const knownAgents = createKnownAgents(store, kernel.clock);
  const deps: Deps = {
    kernel,
    config,
    store: knownAgents.store,
    sealer: loadSealer(config, kernel, await sealedRows(store)),
    endings,
    feed,
    fleetLimits: fleetLimits.get,
    claimLimits: () => ({
      agent_call_limit: config.agentCallLimit ?? limits.agentCallLimit.default,
      max_depth: config.maxCallDepth,
      memory_floor: config.memoryFloorPercent / 100,
      disk_floor_bytes: config.diskFloorMib * 1024 ** 2,
    }),
    stir: (stirred) => {
      if (stirred.limits_changed) fleetLimits.forget();
      knownAgents.stir(stirred);
      feed.stir(stirred);
      endings.stir(stirred);
      dispatcher.stir(stirred);
      couriers.stir(stirred);
      ticker.stir(stirred);
    },
  };
  const dispatcher = createDispatcher(deps);
  const couriers = createCouriers(deps);
  const ticker = createTicker(deps);
  return { deps, feed, dispatcher, couriers, ticker };
};
