import { describe, expect, it } from 'vitest';
import { claimAgent, claimCredential, claimWorld } from '../../../test/support/claim-world.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { earliestReset, lend } from './lend.ts';
import type { ClaimAgent, ClaimCredential } from './world.ts';

const claude = (over: Partial<ClaimAgent> = {}) => claimAgent('a', { adapter: 'claude', ...over });
const lent = (agent: ClaimAgent, credentials: ClaimCredential[], running: [string, number][] = []) => {
  const w = claimWorld([agent], { credentials });
  for (const [id, n] of running) w.running.credential.set(id, n);
  return lend(w, agent);
};

describe('lending', () => {
  it('lends nothing to an adapter that does not log in, and the host login when none is stored', () => {
    expect(lent(claimAgent('a'), [claimCredential('c')])).toEqual({ credential_id: null });
    expect(lent(claude(), [])).toEqual({ credential_id: null });
    expect(lent(claude(), [claimCredential('c', { kind: 'openai_api_key' })])).toEqual({ credential_id: null });
  });

  it(verifies('R38')('lends Codex its plan before its key, Gemini CLI its key, and none of the other’s'), () => {
    const kinds = ['openai_api_key', 'gemini_api_key', 'codex_login', 'claude_oauth'] as const;
    const all = kinds.map((kind) => claimCredential(kind, { kind }));
    expect(lent(claimAgent('a', { adapter: 'codex' }), all)).toEqual({ credential_id: 'codex_login' });
    expect(lent(claimAgent('a', { adapter: 'codex' }), all.slice(0, 2))).toEqual({ credential_id: 'openai_api_key' });
    expect(lent(claimAgent('a', { adapter: 'gemini' }), all)).toEqual({ credential_id: 'gemini_api_key' });
    expect(lent(claimAgent('a', { adapter: 'gemini' }), [all[0]!, all[2]!])).toEqual({ credential_id: null });
  });

  it(verifies('R9')('takes the one used longest ago, the never used one first, within its own cap'), () => {
    const c = [
      claimCredential('new', { last_used_at: 9 }),
      claimCredential('old', { last_used_at: 5, max_parallel: 1 }),
      claimCredential('never'),
    ];
    expect(lent(claude(), c)).toEqual({ credential_id: 'never' });
    expect(lent(claude(), c.slice(0, 2))).toEqual({ credential_id: 'old' });
    expect(lent(claude(), c.slice(0, 2), [['old', 1]])).toEqual({ credential_id: 'new' });
    expect(lent(claude(), [c[1]!], [['old', 1]])).toBe('credential_cap');
  });

  it('counts what a pending resume keeps as used', () => {
    const agent = claude();
    const w = claimWorld([agent], { credentials: [claimCredential('c', { max_parallel: 1 })] });
    w.kept.credential.set('c', 1);
    expect(lend(w, agent)).toBe('credential_cap');
  });

  it('does not cross from a subscription to an API key, unless a pool mixes them', () => {
    const plan = claimCredential('plan', { state: 'limited', until: 2_000_000 });
    const key = claimCredential('key', { kind: 'anthropic_api_key' });
    expect(lent(claude(), [plan, key])).toBe('credentials_exhausted');
    expect(lent(claude(), [key])).toEqual({ credential_id: 'key' });
    const mixed = [plan, key].map((c) => ({ ...c, pool: 'p' }));
    expect(lent(claude({ pool: 'p' }), mixed)).toEqual({ credential_id: 'key' });
    expect(lent(claude(), mixed)).toEqual({ credential_id: null });
  });

  it('an assigned one is used alone, whatever else would be good', () => {
    const c = [claimCredential('mine', { state: 'rejected' }), claimCredential('other')];
    expect(lent(claude({ credential_id: 'mine' }), c)).toBe('credentials_exhausted');
  });

  it('a limited one is good again once its reset has passed; without a reset, or rejected, it is not', () => {
    const at = (state: ClaimCredential['state'], until: number | null) =>
      lent(claude(), [claimCredential('c', { state, until })]);
    expect(at('limited', 1_000_000)).toEqual({ credential_id: 'c' });
    expect(at('limited', 1_000_001)).toBe('credentials_exhausted');
    expect(at('limited', null)).toBe('credentials_exhausted');
    expect(at('rejected', 1)).toBe('credentials_exhausted');
    expect(at('unknown', null)).toEqual({ credential_id: 'c' });
  });

  it('knows the earliest reset', () => {
    const agent = claude();
    const credentials = [7, 5, 6].map((until, i) => claimCredential(`c${i}`, { state: 'limited', until }));
    expect(earliestReset(claimWorld([agent], { credentials }), agent)).toBe(5);
  });
});
