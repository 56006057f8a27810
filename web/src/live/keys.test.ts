import { describe, expect, it } from 'vitest';
import { eventTypes } from '../../../src/contract/events.ts';
import { keys, staleAfter } from './keys.ts';

const stale = (type: string, execution_id: string | null = null) => staleAfter({ type, execution_id });

describe('what an event makes stale', () => {
  it('is something for every event of the contract', () => {
    for (const type of eventTypes) expect(stale(type).length).toBeGreaterThan(0);
  });

  it('is the lists a row leaves and enters, and the row itself', () => {
    expect(stale('execution.claimed', 'e1')).toEqual([
      keys.queued,
      keys.running,
      keys.runLists,
      keys.limits,
      keys.agents,
      keys.runners,
      ['execution', 'e1'],
    ]);
    expect(stale('execution.settled', 'e1')).toEqual(
      expect.arrayContaining([keys.running, keys.ended, keys.limits, ['execution', 'e1']]),
    );
  });

  it('is why an open run waits, when the fleet, a limit or an agent changed', () => {
    for (const type of ['fleet.paused', 'limits.changed', 'agent.updated'])
      expect(stale(type)).toEqual(expect.arrayContaining([keys.queued, keys.open]));
  });

  it('goes by the first word for a type of a newer server', () => {
    expect(stale('execution.teleported', 'e1')).toEqual(
      expect.arrayContaining([keys.running, keys.queued, keys.ended]),
    );
    expect(stale('moon.rose')).toEqual([keys.limits]);
  });
});
