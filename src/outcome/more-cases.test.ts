/**
 * Further endings of the kinds in cases/README.md, so that the tables are held by more than the collection: one line each in
 * test/fixtures/cases/more.jsonl, in the same shape. A null switch means that it cannot be decided from the evidence.
 */
import { describe, expect, it } from 'vitest';
import { casesNow, moreCases } from '../../test/support/cases.ts';
import { verifies } from '../../test/support/verifies.ts';
import { diagnoseRow } from './from-evidence-row.ts';

describe('endings beyond the collection', () => {
  it.each(moreCases.map((c) => [c.row.id, c] as const))(verifies('R35', 'R36')('%s'), (_id, c) => {
    const { cause, switch_credential, evidence } = diagnoseRow(c.row, { now: casesNow });
    // The evidence stands beside, so that a failure shows what decided.
    expect({ cause, switch_credential, evidence }).toEqual({
      cause: c.expected.cause,
      switch_credential: c.expected.switch_credential,
      evidence,
    });
  });

  it('are all there', () => {
    expect(moreCases).toHaveLength(210);
  });
});
