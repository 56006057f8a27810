/** Secrets of an agent besides its login, through the real routes: they reach its next run, and no answer. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Fleet, openFleet } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet();
  await fleet.agent('worker');
  await fleet.agent('other');
});
afterEach(() => fleet.end());

it(
  verifies('R29', 'R45')('go to the next run of that agent alone, replaced as a whole, and are shown by name'),
  async () => {
    const reload = (credentials_text: string) =>
      fleet.api('POST', '/api/agents/worker/credentials/hot-reload', { credentials_text });
    expect((await reload('TRACKER=planted-1\nB=planted-2')).body).toMatchObject({
      success: true,
      credentials: ['B', 'TRACKER'],
    });
    const again = await reload('TRACKER=planted-3');
    expect(again.status, again.text).toBe(200);
    for (const name of ['worker', 'other'])
      await fleet.api('POST', `/api/agents/${name}/task`, { message: 'x', async_mode: true });
    const works = await fleet.runner.claim(2);
    expect(works.map((w) => [w.agent.name, w.secrets]).sort()).toEqual([
      ['other', {}],
      ['worker', { TRACKER: 'planted-3' }],
    ]);
    const status = await fleet.api('GET', '/api/agents/worker/credentials/status');
    expect(status.body).toMatchObject({ secrets: ['TRACKER'], options: [] });
    const list = await fleet.api('GET', '/api/credentials');
    expect(list.body).toHaveLength(1);
    expect(again.text + status.text + list.text).not.toContain('planted');
    expect((await fleet.api('DELETE', `/api/credentials/${list.body[0].id}`)).status).toBe(200);
    expect((await fleet.api('GET', '/api/credentials')).body).toEqual([]);
  },
);

it('are refused when they are a login, or nothing', async () => {
  const post = (body: object) => fleet.api('POST', '/api/agents/worker/credentials/hot-reload', body);
  expect((await post({ credentials: { ANTHROPIC_API_KEY: 'x' } })).status).toBe(422);
  expect((await post({ credentials_text: 'no line' })).status).toBe(422);
  expect((await fleet.api('POST', '/api/credentials/bulk', { content: 'A=1\nB=2' })).body).toMatchObject({
    created: 2,
  });
});
