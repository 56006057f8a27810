import { describe, expect, it } from 'vitest';
import type { LimitsBody } from '../../../src/client/wire.ts';
import { waitReasons } from '../../../src/contract/limits.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { attentionInWords, bannerOf, type Caps, ordinal, placeInWords, reasonInWords } from './reasons.ts';

const now = Date.parse('2026-11-30T12:00:00Z');
const caps: Caps = { agent: 'alpha', agentRunning: 3, agentCap: 3, fleetRunning: 8, fleetCap: 8 };
const say = (reason: (typeof waitReasons)[number], until: string | null = null) =>
  reasonInWords({ reason, until }, caps, now);

describe('why a row waits', () => {
  it(verifies('R11')('has a sentence of its own for every reason of the contract'), () => {
    const sentences = waitReasons.map((reason) => say(reason));
    expect(new Set(sentences).size).toBe(waitReasons.length);
    for (const [i, sentence] of sentences.entries()) expect(sentence).not.toBe(waitReasons[i]);
  });

  it('names the cap with its numbers, and leaves out what is not known', () => {
    expect(say('agent_cap')).toBe('alpha is at its cap: 3 of 3 run');
    expect(say('fleet_cap')).toBe('The fleet is at its cap: 8 of 8 run');
    expect(reasonInWords({ reason: 'agent_cap', until: null }, { ...caps, agentCap: null }, now)).toBe(
      'alpha is at its cap',
    );
  });

  it('says when it goes on, if that is known', () => {
    expect(say('not_before', '2026-11-30T12:01:05Z')).toBe('Next try in 1m 05s');
    expect(say('not_before', '2026-11-30T11:59:00Z')).toBe('Next try is due');
    expect(
      reasonInWords({ reason: 'credentials_exhausted', until: null, about: 'pool p holds nothing' }, caps, now),
    ).toBe('No credential it may use is good (pool p holds nothing)');
    expect(say('credentials_exhausted', '2026-12-01T12:00:00Z')).toMatch(/ until 2026-12-0\d \d\d:\d\d:\d\d$/);
  });

  it('names the provider that is paused', () => {
    const wait = { reason: 'provider_paused', until: null, about: 'openai' } as const;
    expect(reasonInWords(wait, caps, now)).toBe('openai is paused');
    expect(reasonInWords({ ...wait, about: null }, caps, now)).toBe('Its provider is paused');
  });

  it('shows a reason of a newer server as it is', () => {
    expect(reasonInWords({ reason: 'solar_flare' as 'turn', until: null }, caps, now)).toBe('solar_flare');
    expect(attentionInWords('solar_flare')).toBe('solar flare');
    expect(attentionInWords('blocked_tools')).toBe('tools were blocked');
  });
});

describe('where a row stands', () => {
  it('is its place in its lane and the lanes ahead', () => {
    expect(placeInWords({ position: 1, lanes_ahead: 0 })).toBe('next in its lane');
    expect(placeInWords({ position: 3, lanes_ahead: 1 })).toBe('3rd in its lane, 1 lane ahead');
    expect(placeInWords({ position: 22, lanes_ahead: 4 })).toBe('22nd in its lane, 4 lanes ahead');
  });

  it('counts in English', () => {
    expect([1, 2, 3, 4, 11, 12, 13, 21, 101, 111].map(ordinal)).toEqual(
      '1st 2nd 3rd 4th 11th 12th 13th 21st 101st 111th'.split(' '),
    );
  });
});

describe('the banner', () => {
  const limits = (o: Partial<LimitsBody> = {}): LimitsBody => ({
    agent_call_limit: 8,
    agent_call_limit_source: 'default',
    queue_timeout_s: 3600,
    queue_timeout_source: 'default',
    ceiling: 1000,
    paused: false,
    running: 8,
    waiting: 0,
    queued: 12,
    oldest_queued_at: null,
    waiting_by_reason: {},
    agents: [],
    ...o,
  });

  it('is silent when nothing is held', () => {
    expect(bannerOf(limits({ queued: 0 }), [], 1)).toBeNull();
    expect(bannerOf(limits({ waiting_by_reason: { turn: 3 } }), [], 1)).toBeNull();
  });

  it('says that the fleet is paused before anything else', () => {
    expect(bannerOf(limits({ paused: true, waiting_by_reason: { no_runner: 12 } }), [], 0)?.text).toBe(
      'The fleet is paused: no new work starts. 8 run on and end by themselves; 12 wait.',
    );
    expect(bannerOf(limits({ paused: true, running: 1, queued: 1 }), [], 1)?.text).toBe(
      'The fleet is paused: no new work starts. 1 runs on and ends by itself; 1 waits.',
    );
  });

  it('offers the command when no runner is there', () => {
    expect(bannerOf(limits({ waiting_by_reason: { no_runner: 12 } }), [], null)).toMatchObject({
      tone: 'stop',
      command: 'bin/drover runner',
    });
    expect(bannerOf(limits({ queued: 0, running: 0 }), [], 0)?.command).toBe('bin/drover runner');
    // The list of runners may be half a minute old: with work in the queue the server's reason decides.
    expect(bannerOf(limits({ waiting_by_reason: { turn: 12 } }), [], 0)).toBeNull();
    expect(bannerOf(limits({ queued: 0, running: 0 }), [], null)).toBeNull();
  });

  it('says on every page which provider is in trouble, beside what else holds the fleet', () => {
    expect(bannerOf(limits({ queued: 0 }), [], 1, ['openai'])).toEqual({ tone: 'bind', text: 'openai is in trouble.' });
    expect(
      bannerOf(limits({ waiting_by_reason: { fleet_cap: 9, provider_paused: 3 } }), [], 1, ['openai', 'google'])?.text,
    ).toBe(
      'The fleet is at its limit: 8 of 8 run, 9 wait for a slot. openai and google are in trouble: 3 wait for them.',
    );
  });

  it('names the cap that binds, with numbers', () => {
    expect(bannerOf(limits({ waiting_by_reason: { fleet_cap: 9, agent_cap: 3 } }), [], 1)).toEqual({
      tone: 'bind',
      text: 'The fleet is at its limit: 8 of 8 run, 9 wait for a slot.',
    });
    const agents = [{ name: 'alpha', running: 3, queued: 2, cap: 3 }];
    expect(bannerOf(limits({ running: 3, waiting_by_reason: { agent_cap: 1 } }), agents, 1)?.text).toBe(
      'alpha is at its cap (3 of 3): 1 more waits.',
    );
  });
});
