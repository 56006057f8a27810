/** The reset in a verdict: from the clock and the zone of the run itself, and never one that no date can be written of. */
import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { emptyFacts, type Facts } from '../contract/facts.ts';
import { Verdict } from '../contract/verdict.ts';
import { createReader } from '../evidence/create.ts';
import { diagnose } from './diagnose.ts';
import { planWindows } from './plan-windows.ts';

const ended = Date.UTC(2026, 10, 30, 18);

const codex = (more: Partial<Facts> = {}): Facts => {
  const reader = createReader('codex');
  const message = "You've hit your usage limit. Upgrade to Pro or try again at 7:32 PM.";
  reader.line('stdout', JSON.stringify({ type: 'turn.failed', error: { message } }), null);
  return { ...emptyFacts('codex'), exit_code: 1, ended_at: ended, stream: reader.facts(), ...more };
};
const claude = (resetsAt: unknown): Facts => {
  const reader = createReader('claude');
  const limit = { status: 'rejected', rateLimitType: 'five_hour', resetsAt };
  for (const event of [
    { type: 'rate_limit_event', rate_limit_info: { ...limit, unifiedWindows: { seven_day: limit } } },
    {
      type: 'assistant',
      error: 'rate_limit',
      is_api_error_message: true,
      message: { model: '<synthetic>', content: [{ type: 'text', text: 'You’ve hit your 5-hour limit' }] },
    },
  ])
    reader.line('stdout', JSON.stringify(event), ended);
  return { ...emptyFacts('claude'), exit_code: 1, ended_at: ended, stream: reader.facts() };
};
const resetOf = (facts: Facts, now?: number): string | null => {
  const { reset_at } = diagnose(facts, { now });
  return reset_at === null ? null : new Date(reset_at).toISOString().slice(0, 16);
};

describe('the reset of a run', () => {
  it(verifies('R38')('that prints no zone is in the TZ of its process'), () => {
    expect(resetOf(codex())).toBe('2026-11-30T19:32');
    expect(resetOf(codex({ tz: 'Asia/Seoul' }))).toBe('2026-12-01T10:32');
    expect(resetOf(codex({ tz: ':America/New_York' }))).toBe('2026-12-01T00:32');
    expect(resetOf(codex({ tz: 'UTC+2' }))).toBeNull();
  });

  it(verifies('R38')('is the next one after its end, however late its facts arrive'), () => {
    // A runner that could not reach its server for two days.
    expect(resetOf(codex(), ended + 2 * 86_400_000)).toBe('2026-11-30T19:32');
    expect(resetOf(codex({ ended_at: null }), ended + 2 * 86_400_000)).toBe('2026-12-02T19:32');
  });

  it.each([1e15, 1.7e12, 1e300, -1, 0, 8.64e12 + 1, '2026-12-01', null, {}, Number.MAX_SAFE_INTEGER])(
    verifies('R35', 'R38')('of %s has a verdict as well, without a date that nobody can have meant'),
    (resetsAt) => {
      const facts = claude(resetsAt);
      const verdict = diagnose(facts);
      expect(Verdict.safeParse(verdict).error).toBeUndefined();
      expect(verdict).toMatchObject({ cause: 'usage_limit', switch_credential: true, reset_at: null });
      for (const { resets_at } of planWindows(facts.stream) ?? []) expect(resets_at).toBeNull();
    },
  );

  it('of a number with a fraction is whole ms', () => {
    expect(diagnose(claude(1_796_070_472.1239)).reset_at).toBe(1_796_070_472_124);
  });
});
