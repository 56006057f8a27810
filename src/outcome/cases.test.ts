/**
 * The collected cases, row by row: cause, retryable, switch. The bars are the collection's own: no false switch, none missed,
 * and here every cause. A null in `expected` means that the evidence cannot decide it, so nothing is compared.
 */
import { describe, expect, it } from 'vitest';
import { type Case, cases, casesNow } from '../../test/support/cases.ts';
import { verifies } from '../../test/support/verifies.ts';
import { causeNames, causes } from '../contract/causes.ts';
import { diagnoseRow, verdictLine } from './from-evidence-row.ts';

const outcome = (c: Case) => diagnoseRow(c.row, { now: casesNow });
const of = (cli: string) => cases.filter((c) => c.row.cli === cli);

describe('the collected cases', () => {
  it('are all there', () => {
    expect(cases).toHaveLength(243);
    expect([of('claude').length, of('codex').length, of('gemini').length, of('any').length]).toEqual([152, 38, 21, 32]);
  });

  for (const cli of ['claude', 'any', 'codex', 'gemini'])
    describe(verifies('R35', 'R36')(cli), () => {
      it.each(of(cli).map((c) => [c.row.id, c] as const))('%s', (_id, c) => {
        const got = outcome(c);
        expect({ cause: got.cause, switch_credential: got.switch_credential }).toEqual({
          cause: c.expected.cause,
          switch_credential: c.expected.switch_credential,
        });
        if (c.expected.retryable !== null) expect(got.retryable).toBe(c.expected.retryable);
      });
    });

  it(verifies('R36')('give no false switch and miss none'), () => {
    const wrong = cases.filter((c) => outcome(c).switch_credential === true && c.expected.switch_credential !== true);
    const missed = cases.filter((c) => outcome(c).switch_credential !== true && c.expected.switch_credential === true);
    expect({ wrong: wrong.map((c) => c.row.id), missed: missed.map((c) => c.row.id) }).toEqual({
      wrong: [],
      missed: [],
    });
    expect(cases.filter((c) => c.expected.switch_credential === true).length).toBe(47);
  });

  it(verifies('R35')('name every cause right, in every table'), () => {
    const right = (rows: Case[]) => rows.filter((c) => outcome(c).cause === c.expected.cause).length;
    expect(right(cases)).toBe(243);
  });

  it(verifies('R36')('switch only on S causes, and never on what is unknown'), () => {
    for (const c of cases) {
      const got = outcome(c);
      if (got.switch_credential === true) expect(causes[got.cause].switches).toBe(true);
      if (got.switch_credential === true) expect(got.confidence).not.toBe('unknown');
    }
  });

  it('raise retryable over the table for a login that renews itself only', () => {
    const raised = cases.map(outcome).filter((d) => d.retryable && !causes[d.cause].retryable);
    expect(new Set(raised.map((d) => d.cause))).toEqual(new Set(['auth_failed']));
    expect(raised.every((d) => d.switch_credential === false)).toBe(true);
  });

  it('come out with known causes, evidence in words, and a message unless they succeeded', () => {
    for (const c of cases) {
      const got = outcome(c);
      expect(causeNames).toContain(got.cause);
      expect(got.evidence.length).toBeGreaterThan(0);
      expect(got.message === '').toBe(got.cause === 'success');
    }
  });

  it('tell the reset where the evidence has one that can be trusted', () => {
    const at = (id: string) => verdictLine(id, outcome(cases.find((c) => c.row.id === id)!)).reset_at;
    expect(at('cl-lab-limit-5h')).toBe('2026-11-30T20:27:52.000Z');
    expect(at('cc-2087-epoch')).toBe('2025-06-14T18:00:00.000Z');
    expect(at('cc-19472-hit-limit')).toBe('2026-12-01T08:00:00.000Z');
    expect(at('cx-19830-limit-upgrade')).toBe('2026-04-28T16:13:00.000Z');
    // A clock time says nothing about a weekly window, and a success has no reset at all.
    expect(at('cc-12789-weekly')).toBeNull();
    expect(at('cl-lab-warning-93pct')).toBeNull();
  });
});
