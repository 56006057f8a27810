/**
 * A run that goes on beside its open call is under no cap and no clock (R21): it is marked for people, `waiting_active`. Seen where its
 * transcript arrives. Looked up at most once in a while per execution, so that a fleet that streams costs no reads. Decides nothing.
 */
import { LogEntry } from '../contract/runner-protocol.ts';
import type { Deps } from '../flow/deps.ts';
import { commit } from './commit.ts';

/** What was printed before the call may arrive after it, and the clocks of two hosts differ. */
const slackMs = 5_000;
const lookMs = 5_000;
/** Executions remembered with their last look. */
const keptMost = 5_000;

/** Heartbeats and notices of the CLI are no work. */
const isWork = (line: string): { at: number } | null => {
  const entry = LogEntry.safeParse(JSON.parse(line)).data;
  if (entry === undefined || entry.stream !== 'stdout') return null;
  const type = entry.event?.type;
  const works = entry.event === null ? entry.text !== null : type === 'assistant' || type === 'item.started';
  return works ? { at: entry.at } : null;
};

export const watchWaitingActive = (deps: Pick<Deps, 'kernel' | 'store' | 'stir'>) => {
  const looked = new Map<string, number>();
  return async (executionId: string, lines: readonly string[]): Promise<void> => {
    const { clock } = deps.kernel;
    const last = looked.get(executionId);
    if (last !== undefined && clock.steady() - last < lookMs) return;
    const work = lines.map(isWork).findLast((w) => w !== null);
    if (work === undefined || work === null) return;
    if (looked.size >= keptMost) looked.clear();
    looked.set(executionId, clock.steady());
    const waiting = await deps.store.read('waiting_since', { execution_id: executionId });
    if (waiting === null || work.at <= waiting.since + slackMs || waiting.attention.includes('waiting_active')) return;
    await commit(deps, 'mark_attention', {
      execution_id: executionId,
      token: waiting.token,
      attention: 'waiting_active',
    });
  };
};
