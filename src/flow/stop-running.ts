/**
 * Stops what runs, of one agent or of all: a cancel for each execution that is alive, as a person would do it one by one (R25). What
 * waits in the queue is not touched. Gives the ids of those that were told to stop.
 */

import { cancel } from './cancel.ts';
import type { Deps } from './deps.ts';

const atOnce = 1_000;

export const stopRunning = async (
  deps: Deps,
  agentId: string | null,
  by: string,
  reason: string,
): Promise<string[]> => {
  const told: string[] = [];
  let before: string | undefined;
  for (;;) {
    const live = await deps.store.read('executions', {
      status: ['running', 'waiting'],
      ...(agentId !== null && { agent_id: agentId }),
      ...(before !== undefined && { before }),
      limit: atOnce,
    });
    for (const row of live) {
      await cancel(deps, row.id, by, reason);
      told.push(row.id);
    }
    before = live.at(-1)?.id;
    if (live.length < atOnce) return told;
  }
};
