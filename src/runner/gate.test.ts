import { describe, expect, it } from 'vitest';
import { claimedWork } from '../../test/support/claimed-work.ts';
import { manualClock } from '../../test/support/manual-clock.ts';
import { verifies } from '../../test/support/verifies.ts';
import type { BeginAnswer } from '../contract/runner-protocol.ts';
import { silentLog } from '../kernel/log.ts';
import { createControl } from './control.ts';
import { askToBegin } from './gate.ts';
import type { Run } from './run.ts';
import { freshState } from './spool.ts';

describe('the gate before the spawn', () => {
  it(
    verifies('R22')('asks again for a go that is older than the lease: the row may have ended while the host slept'),
    async () => {
      const clock = manualClock();
      const answers: [tookMs: number, BeginAnswer][] = [
        [50_000, { go: true, why: null }],
        [100, { go: false, why: 'reaped' }],
      ];
      let boot = 0;
      const run = {
        claim: claimedWork(),
        state: { ...freshState },
        control: createControl(clock.now, () => {}),
        parts: {
          kernel: { clock, log: silentLog },
          leaving: new AbortController().signal,
          spool: { writeState: async () => {} },
          server: {
            begin: async () => {
              const [took, answer] = answers.shift()!;
              boot += took;
              return answer;
            },
          },
        },
      } as unknown as Run;
      expect(await askToBegin(run, () => boot)).toEqual({ kind: 'refused', why: 'reaped' });
      expect(answers).toEqual([]);
    },
  );
});
