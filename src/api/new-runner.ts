/** A runner that has not been heard of yet. It has the id of its key: who calls is who the row is about. */
import type { Deps } from '../flow/deps.ts';
import { commit } from '../record/commit.ts';
import type { RunnerRow } from '../store/rows.ts';

export const putNewRunner = (
  deps: Pick<Deps, 'kernel' | 'store' | 'stir'>,
  of: Pick<RunnerRow, 'id' | 'name'> & Partial<Pick<RunnerRow, 'labels' | 'slots'>>,
): Promise<RunnerRow> =>
  commit(deps, 'put_runner', {
    runner: {
      host: null,
      boot_id: null,
      version: null,
      isolation: null,
      cgroup: null,
      slots: null,
      labels: [],
      room: null,
      last_seen: null,
      created_at: deps.kernel.clock.now(),
      ...of,
    },
  });
