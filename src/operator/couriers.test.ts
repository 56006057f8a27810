/** Notifications on their way: signed, tried again until they are taken, over restarts, and never in anybody's way (R42). */
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ManualClock, manualClock } from '../../test/support/manual-clock.ts';
import { openReceiver, type Receiver } from '../../test/support/receiver.ts';
import { verifies } from '../../test/support/verifies.ts';
import type { NewOperatorItem, NotificationRow } from '../contract/operator.ts';
import { sealer } from '../credentials/seal.ts';
import type { Deps } from '../flow/deps.ts';
import { hashedBackoff } from '../kernel/backoff.ts';
import { systemRandom, timeOrderedIds } from '../kernel/ids.ts';
import { silentLog } from '../kernel/log.ts';
import { commit } from '../record/commit.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { createCouriers } from './couriers.ts';
import { setTarget } from './notify-target.ts';

const secret = 'a-secret-of-the-receiver';
const hour = 3_600_000;

let home: string;
let store: Store;
let clock: ManualClock;
let deps: Deps;
let couriers: ReturnType<typeof createCouriers>;
let receiver: Receiver;
/** What is under way: questions to the store, and tries (each has a bound of its own, set by this clock). */
let busy = 0;
const counted = async <T>(work: Promise<T>): Promise<T> => {
  busy++;
  return work.finally(() => busy--);
};
const tryMs = 10_000;
const countingTries = (c: ManualClock): ManualClock => ({
  ...c,
  after(ms, run) {
    if (ms !== tryMs) return c.after(ms, run);
    busy++;
    const cancel = c.after(ms, run);
    return () => {
      busy--;
      cancel();
    };
  },
});
const quiet = () =>
  until(
    () => busy,
    (n) => n === 0,
  );

/** Nothing is under way afterwards: what has to be read again at a time is set by then. */
const pass = async (ms: number) => {
  await clock.advance(ms);
  await quiet();
};

const serve = async () => {
  const opened = await openStore({ home, log: silentLog });
  store = { ...opened, write: (v, a) => counted(opened.write(v, a)), read: (v, a) => counted(opened.read(v, a)) };
  deps = {
    kernel: { clock: countingTries(clock), random: systemRandom, ids: timeOrderedIds(systemRandom), log: silentLog },
    store,
    sealer: sealer(Buffer.alloc(32, 7).toString('base64'), systemRandom),
    stir: (stirred) => couriers.stir(stirred),
  } as Partial<Deps> as Deps;
  couriers = createCouriers(deps);
  couriers.start();
};
const goDown = async () => {
  await couriers.stop();
  await store.close();
};

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'drover-notify-'));
  clock = manualClock();
  receiver = await openReceiver();
  await serve();
});
afterEach(async () => {
  receiver.close();
  await goDown();
  rmSync(home, { recursive: true, force: true });
});

const until = async <T>(look: () => Promise<T> | T, ready: (seen: T) => boolean): Promise<T> => {
  for (;;) {
    const seen = await look();
    if (ready(seen)) return seen;
    await new Promise((turn) => setImmediate(turn));
  }
};
const set = (over: object = {}) =>
  setTarget(deps, { url: `${receiver.url}/hook`, secret, format: 'json', min_severity: 'normal', ...over });
const raise = (key: string, over: Partial<NewOperatorItem> = {}) =>
  commit(deps, 'put_operator_item', {
    item: {
      id: deps.kernel.ids.next(clock.now()),
      kind: 'alert',
      dedup_key: key,
      priority: 'high',
      title: `writer: ${key}`,
      evidence: ['limit 384 MiB, peak 384 MiB, kills 1'],
      ...over,
    },
    agent_name: 'writer',
    execution_id: null,
  });
const rows = () => store.read('notifications', { limit: 20 });
const came = (count: number) =>
  until(
    () => receiver.received,
    (r) => r.length >= count,
  );
/** Until this many tries of it are recorded; its state then. */
const tried = async (attempts: number, at = 0): Promise<NotificationRow> => {
  const all = await until(rows, (r) => (r[at]?.attempts ?? 0) >= attempts);
  expect(all[at]!.attempts).toBe(attempts);
  await quiet();
  return all[at]!;
};
const answer = (status: number, headers: Record<string, string> = {}) => {
  receiver.answer = (response) => void response.writeHead(status, headers).end('whatever');
};

describe('a notification', () => {
  it(verifies('R42')('is signed over its time and its body, and says what an operator needs'), async () => {
    await set();
    const item = await raise('oom_killed');
    const [got] = await came(1);
    const { headers, text } = got!;
    const timestamp = headers['x-drover-timestamp'] as string;
    expect(Number(timestamp)).toBe(Math.floor(clock.now() / 1000));
    const mac = createHmac('sha256', secret).update(`${timestamp}.${text}`).digest('hex');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-drover-event': 'operator.opened',
      'x-drover-delivery': '1',
      'x-drover-signature': `v1=${mac}`,
    });
    expect(JSON.parse(text)).toMatchObject({
      id: '1',
      event: 'operator.opened',
      at: new Date(item.created_at).toISOString(),
      item: {
        id: item.id,
        kind: 'alert',
        severity: 'high',
        agent_name: 'writer',
        title: 'writer: oom_killed',
        count: 1,
      },
    });
    expect(await tried(1)).toMatchObject({ item_id: item.id, state: 'sent', last_error: null });
    // The same again is no news.
    await raise('oom_killed');
    await raise('another');
    await came(2);
    expect(receiver.received.map((r) => JSON.parse(r.text).item.title)).toEqual([
      'writer: oom_killed',
      'writer: another',
    ]);
  });

  it(
    verifies('R42')('that is not taken is tried again at growing distances, as the same one, until it is'),
    async () => {
      await set();
      answer(503);
      await raise('k');
      expect(await tried(1)).toMatchObject({ state: 'waiting', last_error: 'answered 503' });
      await pass(2_499);
      expect(receiver.received).toHaveLength(1);
      await pass(2_501);
      await tried(2);
      // Cut in the middle: as bad as an answer that says no.
      receiver.answer = (response) => void response.destroy();
      await pass(10_000);
      expect((await tried(3)).last_error).toMatch(/^cannot be reached/);
      answer(200);
      await pass(20_000);
      expect((await tried(4)).state).toBe('sent');
      expect(receiver.received).toHaveLength(4);
      expect(new Set(receiver.received.map((r) => r.headers['x-drover-delivery']))).toEqual(new Set(['1']));
      const signatures = receiver.received.map((r) => r.headers['x-drover-signature']);
      expect(new Set(signatures).size).toBe(4);
    },
  );

  it(verifies('R42')('waits as long as a receiver asks for, and is given up after a day'), async () => {
    await set();
    answer(429, { 'retry-after': '600' });
    await raise('k');
    await tried(1);
    await pass(599_000);
    expect(receiver.received).toHaveLength(1);
    answer(500);
    await pass(1_000);
    await tried(2);
    let over = (await rows())[0]!;
    for (let tries = 3; over.state === 'waiting'; tries++) {
      // Never over a try under way: its own bound would end it before it is answered.
      const wait = hashedBackoff('notification:1', tries - 1, 5_000, hour);
      await pass(wait - 1);
      expect(receiver.received).toHaveLength(tries - 1);
      await pass(1);
      over = await tried(tries);
    }
    expect(over).toMatchObject({ state: 'gave_up', last_error: 'answered 500' });
    const took = over.ended_at! - over.created_at;
    expect(took).toBeGreaterThan(22 * hour);
    expect(took).toBeLessThanOrEqual(24 * hour);
    // The inbox says so; a receiver that takes something again ends it.
    const inbox = await until(
      () => store.read('operator_items', { status: 'open', limit: 9 }),
      (open) => open.length === 2,
    );
    expect(inbox[0]).toMatchObject({ dedup_key: 'notifications_given_up', agent_name: null, priority: 'low' });
    expect(inbox[0]!.evidence[0]).toContain('answered 500');
    const asked = receiver.received.length;
    await pass(hour);
    expect(receiver.received).toHaveLength(asked);
    answer(200);
    await raise('later');
    await until(
      () => store.read('operator_items', { status: 'closed', limit: 9 }),
      (closed) => closed.length === 1,
    );
  });

  it(verifies('R42')('left by a server that went down is sent by the next one'), async () => {
    await set();
    receiver.close();
    await raise('k');
    expect((await tried(1)).last_error).toMatch(/ECONNREFUSED/);
    await goDown();
    receiver = await openReceiver(Number(new URL(receiver.url).port));
    await pass(hour);
    await serve();
    expect(await tried(2)).toMatchObject({ state: 'sent' });
    expect(receiver.received[0]!.headers['x-drover-delivery']).toBe('1');
  });

  it(
    verifies('R42')('to a receiver that never answers holds up no write, and no other notification for longer'),
    async () => {
      await set();
      receiver.answer = null;
      await raise('first');
      await came(1);
      // The first hangs; whatever is written goes on.
      await raise('second');
      expect(await rows()).toHaveLength(2);
      answer(204);
      await pass(10_000);
      expect((await tried(1, 1)).last_error).toBe('did not answer within 10 s');
      expect((await tried(1, 0)).state).toBe('sent');
    },
  );

  it('is not led elsewhere by a redirect', async () => {
    await set();
    answer(302, { location: `${receiver.url}/elsewhere` });
    await raise('k');
    expect((await tried(1)).last_error).toBe('answered 302: redirects are not followed');
    expect(receiver.received.map((r) => r.path)).toEqual(['/hook']);
  });

  it('below the severity asked for is not sent; what got worse is', async () => {
    await set({ min_severity: 'high' });
    await raise('k', { priority: 'normal' });
    await raise('k', { priority: 'high' });
    await came(1);
    expect(receiver.received.map((r) => JSON.parse(r.text).event)).toEqual(['operator.escalated']);
  });

  it('in the shape of Slack is text in which nothing is a mention or a link', async () => {
    await set({ format: 'slack', secret: null });
    await raise('k', { title: 'writer: <!channel> & co', evidence: ['<http://evil|click>'] });
    const [got] = await came(1);
    const { text } = JSON.parse(got!.text) as { text: string };
    expect(Object.keys(JSON.parse(got!.text) as object)).toEqual(['text']);
    expect(text).toContain('*writer: &lt;!channel&gt; &amp; co*');
    expect(text).toContain('• &lt;http://evil|click&gt;');
    expect(text).toContain('drover inbox ack');
    expect(got!.headers['x-drover-signature']).toBeUndefined();
  });
});
