/** Where the operator is told by webhook: set, shown without its secrets, tried, switched off; and an alert on its way there. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fleet, openFleet } from '../support/fleet.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { verifies } from '../support/verifies.ts';

const secret = 'a-secret-of-the-receiver';

let fleet: Fleet;
let receiver: Receiver;
beforeEach(async () => {
  fleet = await openFleet();
  receiver = await openReceiver();
});
afterEach(async () => {
  receiver.close();
  await fleet.end();
});

const set = (over: object = {}) =>
  fleet.api('PUT', '/api/notifications', { url: `${receiver.url}/hook/T0/secret-path`, secret, ...over });
const shown = async () => (await fleet.api('GET', '/api/notifications')).body;
const answer = (status: number) => {
  receiver.answer = (response) => void response.writeHead(status).end('whatever');
};
const kill = async () => {
  await fleet.api('POST', '/api/agents/writer/task', { message: 'x', async_mode: true, max_retries: 0 });
  const [work] = await fleet.until(
    () => fleet.runner.claim(1),
    (claims) => claims.length > 0,
  );
  await fleet.runner.begin(work!);
  await fleet.runner.finish(work!, { exit_code: null, signal: 'SIGSEGV' });
};

describe('an alert', () => {
  it(verifies('R42')('reaches the receiver, and shows on the way there'), async () => {
    await fleet.agent('writer');
    await set();
    answer(503);
    await kill();
    const look = (state: string) =>
      fleet.until(
        async () => (await shown()).deliveries[0],
        (d) => d?.state === state && d.attempts > 0,
      );
    expect(await look('waiting')).toMatchObject({ event: 'operator.opened', last_error: 'answered 503', attempts: 1 });
    answer(200);
    const sent = await fleet.until(
      async () => {
        await fleet.clock.advance(1_000);
        return (await shown()).deliveries[0];
      },
      (d) => d.state === 'sent',
    );
    expect(JSON.parse(receiver.received.at(-1)!.text)).toMatchObject({
      id: sent.id,
      item: { id: sent.item_id, agent_name: 'writer', title: 'writer: Crashed' },
    });
  });
});

describe('where they go', () => {
  it(verifies('R45')('is shown without what may be secret, and sealed in the store'), async () => {
    expect(await shown()).toMatchObject({ configured: false, url: null, deliveries: [] });
    const answered = await set();
    const all = [
      answered.text,
      (await fleet.api('GET', '/api/notifications')).text,
      (await fleet.api('GET', '/api/audit')).text,
    ];
    expect(answered.body).toMatchObject({
      configured: true,
      url: `${receiver.url}/…`,
      format: 'json',
      min_severity: 'normal',
      signed: true,
    });
    const stored = await fleet.deps.store.read('notify_target', {});
    for (const text of [...all, JSON.stringify(stored)]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain('secret-path');
    }
    // A later change keeps the secret that was not given again.
    expect((await set({ secret: undefined, min_severity: 'low' })).body).toMatchObject({
      signed: true,
      min_severity: 'low',
    });
  });

  it('is refused when it is no place to send to', async () => {
    const refused = async (over: object) => (await set(over)).body.error?.message;
    expect(await refused({ url: 'ftp://x/y' })).toContain('http or https');
    expect(await refused({ url: 'not a url' })).toContain('http or https');
    expect(await refused({ url: 'http://user:pass@x/' })).toContain('no user and password');
    expect(await refused({ secret: undefined })).toContain('secret is needed');
    expect(await refused({ secret: 'short' })).toContain('at least 16');
    expect(await refused({ format: 'xml' })).toBeDefined();
    expect((await shown()).configured).toBe(false);
  });

  it('is tried by a test, which says what came back', async () => {
    const test = () => fleet.api('POST', '/api/notifications/test');
    expect((await test()).status).toBe(404);
    await set();
    expect((await test()).body).toEqual({ delivered: true, status: 204, error: null });
    expect(receiver.received[0]!.headers['x-drover-event']).toBe('operator.test');
    answer(401);
    expect((await test()).body).toEqual({ delivered: false, status: null, error: 'answered 401' });
    expect((await shown()).deliveries).toEqual([]);
  });

  it('is forgotten with what waited', async () => {
    await set();
    answer(500);
    await fleet.agent('writer');
    await kill();
    await fleet.until(shown, (s) => s.deliveries[0]?.attempts === 1);
    expect((await fleet.api('DELETE', '/api/notifications')).status).toBe(200);
    expect(await shown()).toMatchObject({ configured: false, deliveries: [{ state: 'gave_up' }] });
    await fleet.clock.advance(10_000);
    expect(receiver.received).toHaveLength(1);
  });
});
