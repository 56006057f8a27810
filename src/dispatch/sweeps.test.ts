import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ManualClock, manualClock } from '../../test/support/manual-clock.ts';
import { anAgent, aRequest } from '../../test/support/rows.ts';
import { verifies } from '../../test/support/verifies.ts';
import { readConfig } from '../config.ts';
import type { Deps } from '../flow/deps.ts';
import { systemRandom, timeOrderedIds } from '../kernel/ids.ts';
import { jsonLog } from '../kernel/log.ts';
import { commit } from '../record/commit.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { type Sweeps, startSweeps } from './sweeps.ts';

let home: string;
let store: Store;
let clock: ManualClock;
let lines: Record<string, unknown>[];
let deps: Deps;
let sweeps: Sweeps;
let busy = 0;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'drover-sweeps-'));
  const inner = await openStore({ home });
  const count = <T>(p: Promise<T>): Promise<T> => {
    busy++;
    return p.finally(() => busy--);
  };
  store = { ...inner, write: (v, a) => count(inner.write(v, a)), read: (v, a) => count(inner.read(v, a)) };
  clock = manualClock();
  lines = [];
  const limits = { agent_call_limit: 8, max_depth: 8, memory_floor: 0, disk_floor_bytes: 0 };
  deps = {
    kernel: {
      clock,
      random: systemRandom,
      ids: timeOrderedIds(systemRandom),
      log: jsonLog('warn', (l) => lines.push(JSON.parse(l)), clock.now),
    },
    config: readConfig({}),
    store,
    claimLimits: () => limits,
    stir: () => {},
  } as unknown as Deps;
  sweeps = startSweeps(deps, null);
});
afterEach(async () => {
  await sweeps.stop();
  await store.close();
  rmSync(home, { recursive: true, force: true });
});

/** Until the store has answered everything that was asked. */
const settled = async () => {
  do await new Promise((r) => setImmediate(r));
  while (busy > 0);
};
/** Second by second, each with its sweeps done. */
const pass = async (seconds: number) => {
  for (let i = 0; i < seconds; i++) {
    await clock.advance(1000);
    await settled();
  }
};
const enqueue = async (agent: string, budgetMs: number | null = null) => {
  const id = deps.kernel.ids.next(clock.now());
  await commit(deps, 'enqueue', {
    id,
    request: aRequest({ agent_name: agent }),
    agent_id: agent,
    caller: null,
    idempotency: null,
    queue_budget_ms: budgetMs,
    timeout_s: 3600,
    max_retries: 0,
    max_depth: 8,
    fresh_session_id: deps.kernel.ids.next(clock.now()),
    open_call: null,
  });
  return id;
};

describe('what time alone brings about', () => {
  it(verifies('R14')('warns of a wait over 5 s once per row, in one line per agent with a count'), async () => {
    for (const name of ['a', 'b']) await commit(deps, 'create_agent', { agent: anAgent({ id: name, name }) });
    for (let i = 0; i < 3; i++) await enqueue('a');
    await enqueue('b');
    await pass(4);
    expect(lines).toEqual([]);
    await pass(3);
    const told = () => lines.filter((l) => l.message === 'executions wait').map((l) => [l.agent, l.count, l.reason]);
    expect(told().sort()).toEqual([
      ['a', 3, 'no_runner'],
      ['b', 1, 'no_runner'],
    ]);
    await pass(5);
    expect(told()).toHaveLength(2);
    await enqueue('a');
    await pass(8);
    expect(told().slice(2)).toEqual([['a', 1, 'no_runner']]);
  });

  it(
    verifies(
      'R12',
      'R13',
    )('ends a row whose queue budget ran out with the reason that bound it, and leaves one that waits for ever'),
    async () => {
      await commit(deps, 'create_agent', { agent: anAgent({ id: 'a', name: 'a' }) });
      const bounded = await enqueue('a', 2000);
      const forEver = await enqueue('a', null);
      await pass(4);
      const row = await store.read('execution', { id: bounded });
      expect(row).toMatchObject({ status: 'failed', cause: 'no_runner', started_at: null });
      expect(row!.wait_details!.no_runner).toBeGreaterThanOrEqual(2000);
      await pass(40);
      expect(await store.read('execution', { id: forEver })).toMatchObject({ status: 'queued' });
    },
  );

  it(verifies('R42')('tells once that no runner is there, and closes that when one is back'), async () => {
    const items = async () =>
      (await store.read('operator_items', { status: null, limit: 9 })).map((i) => [i.dedup_key, i.status, i.count]);
    const seen = () =>
      commit(deps, 'put_runner', {
        runner: {
          id: 'r1',
          name: 'r1',
          host: 'h',
          boot_id: 'b',
          version: '0',
          isolation: 'none',
          cgroup: 'none',
          slots: 8,
          labels: [],
          room: null,
          last_seen: clock.now(),
          created_at: clock.now(),
        },
      });
    await seen();
    await pass(100);
    expect(await items()).toEqual([]);
    await pass(20);
    expect(await items()).toEqual([['no_runner', 'open', 1]]);
    await pass(120);
    expect(await items()).toEqual([['no_runner', 'open', 1]]);
    await seen();
    await pass(6);
    expect(await items()).toEqual([['no_runner', 'closed', 1]]);
    // Another time is another episode.
    await pass(140);
    expect((await items()).map(([, status]) => status)).toEqual(['open', 'closed']);
  });

  it(verifies('R8', 'D35')('keeps its budgets when the wall clock jumps an hour, back or forth'), async () => {
    await commit(deps, 'create_agent', { agent: anAgent({ id: 'a', name: 'a' }) });
    const id = await enqueue('a', 10_000);
    clock.jump(-3_600_000);
    await pass(3);
    clock.jump(7_200_000);
    await pass(3);
    expect(await store.read('execution', { id })).toMatchObject({ status: 'queued' });
    await pass(6);
    expect(await store.read('execution', { id })).toMatchObject({ status: 'failed' });
  });

  it(verifies('R48')('keeps what has ended for as many days as set, and what has not for ever'), async () => {
    Object.assign(deps, { config: readConfig({ DROVER_RETENTION_DAYS: '2' }) });
    await commit(deps, 'create_agent', { agent: anAgent({ id: 'a', name: 'a' }) });
    const [ended, waits] = [await enqueue('a'), await enqueue('a')];
    await commit(deps, 'cancel', { execution_id: ended, by: 'test', reason: null });
    const day = 86_400_000;
    const there = async (id: string) => (await store.read('execution', { id })) !== null;
    clock.jump(2 * day - 700_000);
    await pass(601);
    expect([await there(ended), await there(waits)]).toEqual([true, true]);
    await pass(601);
    expect([await there(ended), await there(waits)]).toEqual([false, true]);
  });
});
