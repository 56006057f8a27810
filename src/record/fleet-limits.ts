/** The effective fleet limits, kept in memory between changes: they are asked for at every submit. */
import type { Config } from '../config.ts';
import type { FleetLimits } from '../store/rows.ts';
import type { Store } from '../store/store.ts';

export const createFleetLimits = (deps: { store: Store; config: Readonly<Config> }) => {
  let known: Promise<FleetLimits> | null = null;
  return {
    get(): Promise<FleetLimits> {
      known ??= deps.store
        .read('fleet_limits', {
          env_call_limit: deps.config.agentCallLimit,
          env_queue_timeout_s: deps.config.queueTimeoutS,
        })
        .catch((error) => {
          known = null;
          throw error;
        });
      return known;
    },
    /** Called after a change of a limit or of the pause. */
    forget() {
      known = null;
    },
  };
};
