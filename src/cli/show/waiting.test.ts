import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { waitReasons } from '../../contract/limits.ts';
import { waitingFor } from './waiting.ts';

describe('why it waits', () => {
  it(verifies('R11')('has a sentence of its own for every reason, with the word and the place'), () => {
    const said = waitReasons.map((reason) =>
      waitingFor({ reason, position: 2, lanes_ahead: 0, since: null, until: null, about: null }),
    );
    for (const [i, reason] of waitReasons.entries()) expect(said[i]).toContain(`(${reason}, place 2)`);
    expect(new Set(said.map((s) => s.replace(/ \(.*/, ''))).size).toBe(waitReasons.length);
  });

  it('adds the lanes ahead and the time until, when there are any', () => {
    expect(
      waitingFor({
        reason: 'not_before',
        position: 0,
        lanes_ahead: 3,
        since: null,
        until: '2026-12-01T00:00:00Z',
        about: null,
      }),
    ).toBe('it is to start later (not_before, 3 lanes ahead, until 2026-12-01T00:00:00Z)');
  });
});
