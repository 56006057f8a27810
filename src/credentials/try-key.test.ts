import { expect, it } from 'vitest';
import { manualClock } from '../../test/support/manual-clock.ts';
import { tryKey } from './try-key.ts';

const asked = (status: number) => {
  const sent: { url: string; headers: Record<string, string> }[] = [];
  const send = (async (url: string, init: RequestInit) => {
    sent.push({ url, headers: init.headers as Record<string, string> });
    return new Response('{}', { status });
  }) as unknown as typeof fetch;
  return { sent, send };
};

it('asks the provider of the key alone, with the key in a header and not in the address', async () => {
  for (const provider of ['anthropic', 'openai', 'gemini'] as const) {
    const { sent, send } = asked(200);
    expect(await tryKey(manualClock(), provider, 'the-key', send)).toMatchObject({ valid: true, status: 200 });
    expect(sent).toHaveLength(1);
    expect(sent[0]!.url).not.toContain('the-key');
    expect(JSON.stringify(sent[0]!.headers)).toContain('the-key');
  }
});

it('says no only when the provider says so; trouble on its side or on the way is not the key’s', async () => {
  const valid = async (status: number) => (await tryKey(manualClock(), 'anthropic', 'k', asked(status).send)).valid;
  expect([await valid(401), await valid(403), await valid(429), await valid(529)]).toEqual([false, false, null, null]);
  const broken = (async () => {
    throw new TypeError('fetch failed');
  }) as unknown as typeof fetch;
  expect(await tryKey(manualClock(), 'openai', 'k', broken)).toMatchObject({ valid: null, status: null });
});

it('waits ten seconds and no longer', async () => {
  const clock = manualClock();
  const never = ((_: string, init: RequestInit) =>
    new Promise((_resolve, reject) => {
      init.signal!.addEventListener('abort', () => reject(init.signal!.reason));
    })) as unknown as typeof fetch;
  const tried = tryKey(clock, 'gemini', 'k', never);
  await clock.advance(10_000);
  expect((await tried).note).toContain('10 s');
});
