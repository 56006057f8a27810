/** The morning report: made from rows, sent once a day at its local time, over restarts and receivers that are away (R42). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ManualClock, manualClock } from '../../test/support/manual-clock.ts';
import { openReceiver, type Receiver } from '../../test/support/receiver.ts';
import { anAgent, anEnqueue, aVerdict, wideRoom } from '../../test/support/rows.ts';
import { verifies } from '../../test/support/verifies.ts';
import { emptyFacts } from '../contract/facts.ts';
import { sealer } from '../credentials/seal.ts';
import type { Deps } from '../flow/deps.ts';
import { systemRandom, timeOrderedIds } from '../kernel/ids.ts';
import { silentLog } from '../kernel/log.ts';
import { commit } from '../record/commit.ts';
import { openStore } from '../store/open.ts';
import type { SettleArgs, Store } from '../store/store.ts';
import { makeMorningReport } from './morning-report.ts';
import { setTarget } from './notify-target.ts';
import { sendMorning } from './send-morning.ts';

let home: string;
let store: Store;
let clock: ManualClock;
let receiver: Receiver;
let deps: Deps;
let n = 0;

const serve = async () => {
  store = await openStore({ home, log: silentLog });
  deps = {
    kernel: { clock, random: systemRandom, ids: timeOrderedIds(systemRandom), log: silentLog },
    store,
    sealer: sealer(Buffer.alloc(32, 7).toString('base64'), systemRandom),
    claimLimits: () => ({ agent_call_limit: 8, max_depth: 8, memory_floor: 0, disk_floor_bytes: 0 }),
    stir: () => {},
  } as Partial<Deps> as Deps;
};
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'drover-morning-'));
  clock = manualClock(Date.parse('2026-11-30T22:00:00Z'));
  receiver = await openReceiver();
  await serve();
  await commit(deps, 'put_setting', { key: 'timezone', value: 'Europe/Berlin' });
  await commit(deps, 'create_agent', { agent: anAgent({ id: 'a', name: 'writer' }) });
});
afterEach(async () => {
  receiver.close();
  await store.close();
  rmSync(home, { recursive: true, force: true });
});

const submit = () => {
  const id = `e${++n}`;
  return commit(deps, 'enqueue', anEnqueue({ id, agent_id: 'a' }, { agent_name: 'writer' }));
};
const claim = async () => {
  const { claims } = await commit(deps, 'claim_next', {
    runner_id: 'r',
    room: wideRoom,
    about: { host: 'h', boot_id: 'b', version: '0', isolation: 'none', cgroup: 'none' },
    max: 1,
    lease_ms: 1e6,
    fresh: [{ attempt_id: `t${++n}`, token: `k${n}` }],
    limits: deps.claimLimits(),
  });
  return claims[0]!;
};
const settle = async ({ session = null, ...over }: Partial<SettleArgs> & { session?: string | null } = {}) => {
  const c = await claim();
  const facts = emptyFacts('command');
  facts.stream.session_id = session;
  await commit(deps, 'settle', {
    attempt_id: c.attempt_id,
    token: c.token,
    facts,
    verdict: aVerdict({ cause: 'success' }),
    decision: { kind: 'end', status: 'success' },
    cost_usd: null,
    cost_kind: null,
    cost_estimated: false,
    operator_items: [],
    repeated: null,
    weather: null,
    login: null,
    seen: null,
    ...over,
  });
};
const target = () =>
  setTarget(deps, {
    url: `${receiver.url}/hook`,
    secret: 'a-secret-of-the-receiver',
    format: 'json',
    min_severity: 'high',
  });
/** What the errand does, turn by turn. */
const turn = async () => {
  while ((await sendMorning(deps)) === 0) {
    // Again at once.
  }
};

it(
  verifies('R42')('says what happened, what was saved, what needs a person and what it cost, of the night alone'),
  async () => {
    clock.jump(-12 * 3_600_000);
    await submit();
    await settle({ cost_usd: 100, cost_kind: 'billed' });
    clock.jump(12 * 3_600_000);
    await submit();
    await settle({ cost_usd: 0.5, cost_kind: 'billed' });
    await submit();
    await settle({
      verdict: aVerdict({ cause: 'overloaded' }),
      decision: { kind: 'retry', after_ms: 0, why: 'again' },
      cost_usd: 0.25,
      cost_kind: 'notional',
      session: 's1',
    });
    await settle({ cost_usd: 1, cost_kind: 'notional', session: 's1' });
    await submit();
    await settle({
      verdict: aVerdict({ cause: 'crashed' }),
      decision: { kind: 'end', status: 'failed' },
      cost_usd: 2,
      cost_kind: 'billed',
    });
    await submit();
    await commit(deps, 'put_operator_item', {
      item: { id: 'i1', kind: 'alert', dedup_key: 'k', priority: 'high', title: 'writer: look at me', evidence: [] },
      agent_name: 'writer',
      execution_id: null,
    });
    const report = await makeMorningReport(deps, null);
    expect(report).toMatchObject({
      day: '2026-11-30',
      timezone: 'Europe/Berlin',
      from: '2026-11-30T17:00:00.000Z',
      happened: {
        ended: 3,
        good: 2,
        failed: 1,
        queued: 1,
        by_cause: [{ cause: 'crashed', title: 'Crashed', count: 1 }],
        by_agent: [{ agent_name: 'writer', good: 2, failed: 1, cancelled: 0 }],
      },
      saved: { retried: 1, resumed: 1, parked: 0, switched: 0 },
      needs_you: [{ id: 'i1', severity: 'high', title: 'writer: look at me' }],
      cost: { total_usd: 3.75, billed_usd: 2.5, notional_usd: 1.25, wasted_usd: 2.25 },
    });
    expect(report.text).toContain('2 runs of 3 ended well, 1 failed.');
    expect(report.text).toContain('! writer: look at me');
    expect((await makeMorningReport(deps, clock.now() - 24 * 3_600_000)).happened.ended).toBe(4);
    // At six in the morning it is still the night that began the day before.
    clock.jump(7 * 3_600_000);
    expect(await makeMorningReport(deps, null)).toMatchObject({ day: '2026-12-01', from: '2026-11-30T17:00:00.000Z' });
  },
);

it(verifies('R42')('is sent at its time of the zone, once a day, whatever is restarted in between'), async () => {
  await target();
  await turn();
  await clock.advance(7.9 * 3_600_000);
  await turn();
  // 06:54 in Berlin.
  expect(receiver.received).toHaveLength(0);
  await clock.advance(0.2 * 3_600_000);
  await turn();
  await turn();
  expect(receiver.received).toHaveLength(1);
  const { headers, text } = receiver.received[0]!;
  expect(headers).toMatchObject({ 'x-drover-event': 'report.morning', 'x-drover-delivery': 'morning-2026-12-01' });
  expect(headers['x-drover-signature']).toMatch(/^v1=/);
  expect(JSON.parse(text)).toMatchObject({
    event: 'report.morning',
    report: { day: '2026-12-01', saved: { retried: 0 } },
  });
  await store.close();
  await serve();
  await turn();
  expect(receiver.received).toHaveLength(1);
  await commit(deps, 'put_setting', { key: 'morning_report_at', value: '09:30' });
  await clock.advance(24 * 3_600_000);
  await turn();
  expect(receiver.received).toHaveLength(1);
  await clock.advance(3 * 3_600_000);
  await turn();
  expect(receiver.received).toHaveLength(2);
});

it(verifies('R42')('that is not taken is sent again as the same one, and given up before the afternoon'), async () => {
  await target();
  receiver.answer = (response) => void response.writeHead(503).end();
  await clock.advance(8.1 * 3_600_000);
  await turn();
  expect(receiver.received).toHaveLength(1);
  receiver.answer = (response) => void response.writeHead(200).end();
  await clock.advance(60_000);
  await turn();
  expect(receiver.received.map((r) => r.headers['x-drover-delivery'])).toEqual([
    'morning-2026-12-01',
    'morning-2026-12-01',
  ]);
  await clock.advance(60_000);
  await turn();
  expect(receiver.received).toHaveLength(2);
});

it('nothing is sent without a receiver, when it is off, or long after its time', async () => {
  await clock.advance(9 * 3_600_000);
  await turn();
  await commit(deps, 'put_setting', { key: 'morning_report_at', value: 'off' });
  await target();
  await turn();
  await commit(deps, 'put_setting', { key: 'morning_report_at', value: '07:00' });
  await clock.advance(7 * 3_600_000);
  await turn();
  expect(receiver.received).toHaveLength(0);
});
