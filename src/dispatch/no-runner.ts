/**
 * One alert per time without any runner, which closes itself: accepted work then waits, and nothing else would tell a person so. A
 * server that starts, or a runner that is renewed, gets a minute first.
 */
import { limits } from '../contract/limits.ts';
import { noRunnerKey } from '../contract/operator.ts';
import type { Deps } from '../flow/deps.ts';
import { commit } from '../record/commit.ts';

/** A runner is started again within a second, and one elsewhere comes back from a restart of its host's network in less. */
const patienceMs = 60_000;

/** One look, to be repeated; it remembers since when nobody has been there. */
export const watchForRunners = (deps: Deps): (() => Promise<void>) => {
  const { clock, ids, log } = deps.kernel;
  let awaySince: number | null = null;
  return async () => {
    const steady = clock.steady();
    const { here, told } = await deps.store.read('runner_watch', { since: steady - limits.leaseMs });
    if (here) {
      awaySince = null;
      if (told) await commit(deps, 'runner_is_here', {});
      return;
    }
    awaySince ??= steady;
    if (told || steady - awaySince < patienceMs) return;
    log.warn('no runner is there', { for_ms: steady - awaySince });
    await commit(deps, 'put_operator_item', {
      item: {
        id: ids.next(clock.now()),
        kind: 'alert',
        dedup_key: noRunnerKey,
        priority: 'high',
        title: 'No runner is there: accepted work waits',
        evidence: [
          `No runner has been heard of for ${Math.round((steady - awaySince + limits.leaseMs) / 1000)} s.`,
          'Start one: drover runner, or npm start on the host of the server. What is wrong there: drover doctor',
        ],
        fleet: true,
      },
      agent_name: null,
      execution_id: null,
    });
  };
};
