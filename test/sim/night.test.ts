/**
 * A small bad night (bench/night): whatever fails in it, nothing that was given is lost or run twice, nobody is blamed without
 * evidence, and what only had to wait ends well. The figures of a whole night are `npm run night`.
 */
import { expect, it } from 'vitest';
import { droverNight } from '../../bench/night/drover.ts';
import { nightOf } from '../../bench/night/plan.ts';
import { simpleNight } from '../../bench/night/simple.ts';
import { verifies } from '../support/verifies.ts';

it(
  verifies(
    'R40',
    'R38',
    'R23',
  )('a bad night loses nothing, blames no login without evidence, and calls a person a few times'),
  async () => {
    const night = nightOf(7, 'small');
    const played = await droverNight(night);
    expect(played.violations).toEqual([]);
    expect(played.left).toBe(0);
    expect(played.liveAtRestart).toBeGreaterThanOrEqual(night.restart.live);
    // The outage is one trouble, over by itself, and no run ended by it.
    expect(played.incidents).toMatchObject([{ provider: 'anthropic', state: 'closed' }]);
    for (const cause of ['overloaded', 'usage_limit', 'auth_failed', 'runner_lost', 'unknown', 'killed_unknown'])
      expect(played.byCause).not.toHaveProperty(cause);
    // Only what a provider said counts against a login: no 529, no OOM, no full disk, no restart.
    const blamed = new Map(played.credentialEvents.map((e) => [e.credential_id, e.cause]));
    for (const [id, cause] of blamed) {
      expect(Object.keys({ ...night.exhausted, ...night.revoked })).toContain(id);
      expect(cause).toBe(id in night.revoked ? 'auth_failed' : 'usage_limit');
    }
    for (const { id, state } of played.credentials) if (!blamed.has(id)) expect(['ok', 'unknown']).toContain(state);
    expect(played.blindSpawns).toBe(0);
    const hungry = night.works.filter((w) => w.agent === 'hungry').length;
    expect(played.byCause.oom_killed).toBe(hungry);
    const simple = simpleNight(night);
    expect(played.good).toBeGreaterThan(simple.good);
    expect(played.wastedSpawns).toBeLessThan(simple.wastedSpawns);
    expect(played.items).toBeLessThan(simple.items);
  },
);
