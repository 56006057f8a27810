/** Stored verdicts computed again (R5): what an older version said, and what this one would; by the route and on the command line. */
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sinceOf } from '../../src/cli/commands/rediagnose.ts';
import { emptyFacts, type Facts } from '../../src/contract/facts.ts';
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';
import type { Verdict } from '../../src/contract/verdict.ts';
import { diagnose } from '../../src/outcome/diagnose.ts';
import { commit } from '../../src/record/commit.ts';
import { cli } from '../support/cli.ts';
import { type Fleet, openFleet } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet();
  await fleet.agent('writer');
});
afterEach(() => fleet.end());

const start = async (): Promise<ClaimedWork> => {
  await fleet.api('POST', '/api/agents/writer/task', { message: 'x', async_mode: true });
  const [work] = await fleet.runner.claim();
  await fleet.runner.begin(work!);
  return work!;
};
const killed: Facts = { ...emptyFacts('command'), signal: 'SIGKILL', spawned_at: 1, ended_at: 2 };

/** Recorded by a version that judged these facts otherwise. */
const recorded = async (facts: Facts, over: Partial<Verdict> = {}): Promise<string> => {
  const work = await start();
  const verdict: Verdict = { ...diagnose(killed, { now: fleet.clock.now() }), ...over };
  await commit(fleet.deps, 'settle', {
    attempt_id: work.attempt,
    token: work.token,
    facts,
    verdict,
    decision: { kind: 'end', status: 'failed' },
    cost_usd: null,
    cost_kind: null,
    operator_items: [],
    repeated: null,
    weather: null,
    cost_estimated: false,
    login: null,
    seen: null,
  });
  return work.execution_id;
};

const ask = async (query: string) => (await fleet.api('GET', `/api/rediagnose?${query}`)).body;
const since = 'since=2020-01-01';

describe('a stored verdict', () => {
  it(
    verifies('R5')('is the same again when this version gave it, also one judged through the whole of the door'),
    async () => {
      const work = await start();
      await fleet.runner.finish(work, { exit_code: 1 });
      await recorded(killed);
      expect(await ask(since)).toEqual({ looked_at: 2, reworded: 0, unreadable: 0, changed: [], next: null });
    },
  );

  it(verifies('R5')('is shown with both judgements when this version would give another'), async () => {
    const id = await recorded(killed, { cause: 'auth_failed', switch_credential: true, confidence: 'likely' });
    const { changed, looked_at } = await ask(since);
    expect(looked_at).toBe(1);
    expect(changed).toMatchObject([
      {
        execution_id: id,
        agent_name: 'writer',
        attempt: 1,
        fields: ['cause', 'switch_credential', 'confidence'],
        before: { cause: 'auth_failed', switch_credential: true },
        after: { cause: 'killed_unknown', switch_credential: false },
      },
    ]);
    // Shown, never written.
    expect((await fleet.row(id)).cause).toBe('auth_failed');
  });

  it('of other words only is counted, and of facts that cannot be read is said so', async () => {
    await recorded(killed, { message: 'It was killed, as older versions put it.' });
    await recorded({ ...killed, version: 7 } as unknown as Facts);
    expect(await ask(since)).toMatchObject({ looked_at: 2, reworded: 1, unreadable: 1, changed: [] });
  });

  it('is read page by page, from the time that is asked for', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      ids.push(await recorded(killed, { cause: 'crashed' }));
      await fleet.clock.advance(60_000);
    }
    const seen: string[] = [];
    let after = '';
    for (let pages = 0; pages < 9; pages++) {
      const page = await ask(`${since}&limit=2${after}`);
      seen.push(...page.changed.map((c: { execution_id: string }) => c.execution_id));
      if (page.next === null) break;
      after = `&after=${page.next}`;
    }
    expect(seen).toEqual(ids);
    const late = new Date(fleet.clock.now() - 150_000).toISOString();
    expect((await ask(`since=${late}`)).looked_at).toBe(2);
  });

  it('is asked for with a time and a place, or refused in words', async () => {
    for (const [query, name] of [
      ['since=yesterday', 'since'],
      [`${since}&after=nowhere`, 'after'],
    ] as const) {
      const { status, body } = await fleet.api('GET', `/api/rediagnose?${query}`);
      expect({ status, field: body.error.details[0].field }).toEqual({ status: 422, field: name });
    }
    expect((await fleet.api('GET', '/api/rediagnose')).status).toBe(422);
  });
});

describe('drover rediagnose', () => {
  it(verifies('R5')('tells what was said then and what is said now, and that nothing was changed'), async () => {
    await recorded(killed, { cause: 'auth_failed', switch_credential: true });
    await recorded(killed);
    await fleet.app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = fleet.app.server.address() as AddressInfo;
    const env = { DROVER_SERVER_URL: `http://127.0.0.1:${port}`, DROVER_TOKEN: fleet.owner };
    const run = await cli(['rediagnose', '--since', '2020-01-01'], { env });
    expect(run.code).toBe(0);
    expect(run.out).toMatch(/then: auth_failed .*switch.*\n {2}now: {2}killed_unknown .*no switch/);
    expect(run.out).toContain(
      '2 verdicts since 2020-01-01T00:00:00.000Z: 1 would be another today. Nothing was changed.',
    );
    const json = await cli(['rediagnose', '--since', '2020-01-01', '--json'], { env });
    expect(json.json()).toMatchObject([{ agent_name: 'writer', fields: ['cause', 'switch_credential'] }]);
    expect(json.err).toContain('2 verdicts since');
  });

  it('takes hours, days and dates, and says so when it is given something else', async () => {
    const now = Date.parse('2026-11-30T18:00:00Z');
    expect([sinceOf('24h', now), sinceOf('7d', now), sinceOf('2026-11-01', now)]).toEqual([
      '2026-11-29T18:00:00.000Z',
      '2026-11-23T18:00:00.000Z',
      '2026-11-01T00:00:00.000Z',
    ]);
    expect(() => sinceOf('last week', now)).toThrow('--since needs 24h, 7d');
    expect((await cli(['rediagnose'])).code).toBe(2);
  });
});
