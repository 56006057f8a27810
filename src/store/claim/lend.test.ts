import { describe, expect, it } from 'vitest';
import { claimAgent, claimCredential, claimWorld } from '../../../test/support/claim-world.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { earliestReset, lend, loginsTold } from './lend.ts';
import type { ClaimAgent, ClaimCredential } from './world.ts';

const claude = (over: Partial<ClaimAgent> = {}) => claimAgent('a', { adapter: 'claude', ...over });
const lent = (
  agent: ClaimAgent,
  credentials: ClaimCredential[],
  running: [string, number][] = [],
  spill: string[] = [],
) => {
  const w = claimWorld([agent], { credentials, spill });
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

  it(verifies('R11')('tells a person what it could be lent, and that a pool is empty'), () => {
    const told = (agent: ClaimAgent, credentials: ClaimCredential[]) =>
      loginsTold(claimWorld([agent], { credentials }), agent);
    const used = claimCredential('a', { state: 'limited', until: 2_000_000 });
    const shut = claimCredential('b', { state: 'rejected' });
    expect(told(claude(), [used, shut])).toBe('a is used up, b is rejected');
    expect(told(claude({ pool: 'p' }), [used])).toBe('pool p holds nothing that adapter claude can log in with');
    const another = { ...used, pool: 'p', kind: 'claude_oauth', owner_id: 'x' } as const;
    expect(told(claude({ pool: 'p', owner_id: 'y' }), [another])).toBe(
      'what pool p holds is another owner’s, and lent to agents of that owner only',
    );
    const many = [1, 2, 3, 4, 5, 6, 7].map((n) => ({ ...shut, id: `c${n}`, name: `c${n}` }));
    expect(told(claude(), many)).toMatch(/c5 is rejected, and 2 more$/);
  });

  it('counts what a pending resume keeps as used', () => {
    const agent = claude();
    const w = claimWorld([agent], { credentials: [claimCredential('c', { max_parallel: 1 })] });
    w.kept.credential.set('c', 1);
    expect(lend(w, agent)).toBe('credential_cap');
  });

  it(verifies('R38')('does not cross from a subscription to an API key, unless its pool says so'), () => {
    const plan = claimCredential('plan', { state: 'limited', until: 2_000_000 });
    const key = claimCredential('key', { kind: 'anthropic_api_key' });
    expect(lent(claude(), [plan, key])).toBe('credentials_exhausted');
    expect(lent(claude(), [key])).toEqual({ credential_id: 'key' });
    const mixed = [plan, key].map((c) => ({ ...c, pool: 'p' }));
    expect(lent(claude({ pool: 'p' }), mixed)).toBe('credentials_exhausted');
    expect(lent(claude({ pool: 'p' }), mixed, [], ['q', ''])).toBe('credentials_exhausted');
    expect(lent(claude({ pool: 'p' }), mixed, [], ['p'])).toEqual({ credential_id: 'key' });
    // A plan that is good and busy is waited for: the key costs money.
    const busy = mixed.map((c) => ({ ...c, state: 'ok' as const, max_parallel: 1 }));
    expect(lent(claude({ pool: 'p' }), busy, [['plan', 1]], ['p'])).toBe('credential_cap');
    expect(lent(claude(), mixed)).toEqual({ credential_id: null });
  });

  it(verifies('R38')('uses nothing instead of what a pool by name does not hold'), () => {
    expect(lent(claude({ pool: 'none' }), [claimCredential('c')])).toBe('credentials_exhausted');
    expect(lent(claimAgent('a', { pool: 'none' }), [])).toEqual({ credential_id: null });
  });

  it(verifies('R41')('lends a plan to agents of its owner alone, an API key to any'), () => {
    const plan = claimCredential('plan', { owner_id: 'someone' });
    expect(lent(claude(), [plan])).toBe('credentials_exhausted');
    expect(lent(claude({ owner_id: 'someone' }), [plan])).toEqual({ credential_id: 'plan' });
    const key = claimCredential('key', { kind: 'anthropic_api_key', owner_id: 'someone' });
    expect(lent(claude(), [key])).toEqual({ credential_id: 'key' });
  });

  it('goes on with the one it had while that is good and has room', () => {
    const w = (over: Partial<ClaimCredential> = {}) =>
      claimWorld([claude()], {
        credentials: [claimCredential('old'), claimCredential('had', { last_used_at: 9, max_parallel: 1, ...over })],
      });
    expect(lend(w(), claude(), 'had')).toEqual({ credential_id: 'had' });
    expect(lend(w(), claude())).toEqual({ credential_id: 'old' });
    expect(lend(w({ state: 'rejected' }), claude(), 'had')).toEqual({ credential_id: 'old' });
    const busy = w();
    busy.running.credential.set('had', 1);
    expect(lend(busy, claude(), 'had')).toEqual({ credential_id: 'old' });
  });

  it('takes a plan whose window is nearly full last', () => {
    const c = [claimCredential('full', { used: 0.97 }), claimCredential('fresh', { used: 0.4, last_used_at: 9 })];
    expect(lent(claude(), c)).toEqual({ credential_id: 'fresh' });
    expect(lent(claude(), [c[0]!])).toEqual({ credential_id: 'full' });
  });

  it('starts as many at once as the provider bears, and one alone where nothing is known after a limit', () => {
    const slow = [claimCredential('c', { pace: 2.6 })];
    expect(lent(claude(), slow, [['c', 1]])).toEqual({ credential_id: 'c' });
    expect(lent(claude(), slow, [['c', 2]])).toBe('credential_cap');
    const reset = [claimCredential('c', { state: 'limited', until: 999_999 })];
    expect(lent(claude(), reset)).toEqual({ credential_id: 'c' });
    expect(lent(claude(), reset, [['c', 1]])).toBe('credential_cap');
  });

  it(verifies('R39')('is careful with the rest of a kind of which two were rejected within minutes'), () => {
    const rejected = (id: string, state_at: number) => claimCredential(id, { state: 'rejected', state_at });
    const third = claimCredential('third', { last_used_at: 1 });
    const two = [rejected('a', 400_000), rejected('b', 900_000), third];
    expect(lent(claude(), two, [['third', 1]])).toBe('credential_cap');
    expect(lent(claude(), [...two.slice(0, 2), { ...third, worked_at: 950_000 }], [['third', 1]])).toEqual({
      credential_id: 'third',
    });
    expect(lent(claude(), two.slice(1), [['third', 1]])).toEqual({ credential_id: 'third' });
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
    expect(at('rejected', null)).toBe('credentials_exhausted');
    expect(at('rejected', 1_000_001)).toBe('credentials_exhausted');
    // Its probe is due: with nothing else left.
    expect(at('rejected', 1)).toEqual({ credential_id: 'c' });
    const both = [claimCredential('bad', { state: 'rejected', until: 1 }), claimCredential('c', { last_used_at: 9 })];
    expect(lent(claude(), both)).toEqual({ credential_id: 'c' });
    expect(at('unknown', null)).toEqual({ credential_id: 'c' });
  });

  it('knows the earliest reset', () => {
    const agent = claude();
    const credentials = [7, 5, 6].map((until, i) => claimCredential(`c${i}`, { state: 'limited', until }));
    expect(earliestReset(claimWorld([agent], { credentials }), agent)).toBe(5);
  });

  it('lends nothing from the pool named no-login, though everything else is stored', () => {
    expect(
      lent(claude({ pool: 'no-login' }), [claimCredential('c'), claimCredential('d', { pool: 'no-login' })]),
    ).toEqual({
      credential_id: null,
    });
    expect(lent(claude({ pool: 'empty' }), [claimCredential('c')])).toBe('credentials_exhausted');
  });
});
