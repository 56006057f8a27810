/**
 * Any history of submits, claims, calls, endings, cancels, lost runners, pauses and changed caps: after each step the caps hold,
 * slots follow rows, nobody works for a caller that is gone, and every row ends once; in the end everything that was submitted
 * has ended. The promises of the checked model (model/dispatch.pml), on the real verbs.
 */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { isRefusal } from '../../contract/errors.ts';
import { isTerminal } from '../../contract/status.ts';
import type { ClaimRow } from '../store.ts';
import type { OpenEngine } from './engine.ts';
import { failed, type House, room as largeRoom, leaseMs, openHouse } from './house.ts';

type Step =
  | { do: 'submit' | 'chat'; agent: number; batch: boolean }
  | { do: 'turn'; who: number }
  | { do: 'claim'; max: number }
  | { do: 'call'; who: number; agents: number[]; chat: boolean }
  | { do: 'end'; who: number; how: 'success' | 'failed' | 'retry' }
  | { do: 'fan'; who: number | null; agent: number; tasks: number; at_once: number }
  | { do: 'detach'; who: number }
  | { do: 'cancel'; who: number }
  | { do: 'lose'; who: number }
  | { do: 'pause'; on: boolean };

const agentNo = fc.integer({ min: 0, max: 2 });
const who = fc.nat({ max: 30 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('submit' as const, 'chat' as const),
      agent: agentNo,
      batch: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('turn' as const), who }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('claim' as const), max: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      who,
      agents: fc.array(agentNo, { minLength: 1, maxLength: 3 }),
      chat: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      who,
      how: fc.constantFrom('success' as const, 'failed' as const, 'retry' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fan' as const),
      who: fc.option(who),
      agent: agentNo,
      tasks: fc.integer({ min: 1, max: 4 }),
      at_once: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('detach' as const), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pause' as const), on: fc.boolean() }) },
);
const world = fc.record({
  caps: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 3, maxLength: 3 }),
  fleet: fc.integer({ min: 1, max: 3 }),
  credential: fc.option(fc.integer({ min: 1, max: 2 })),
  depth: fc.integer({ min: 1, max: 3 }),
  /** Places on the runner beyond the least that layered room needs. */
  spare: fc.integer({ min: 0, max: 2 }),
  steps: fc.array(step, { minLength: 5, maxLength: 40 }),
});

interface Seen {
  claims: Map<string, ClaimRow>;
  /** Ending of each row, as first seen. */
  endings: Map<string, string>;
  /** Calls that were made, with the token of whoever waits. */
  calls: { call_id: string; caller_token: string }[];
}

const names = ['a', 'b', 'c'];
const pick = <T>(all: T[], n: number): T | undefined => (all.length === 0 ? undefined : all[n % all.length]);

export const randomConformance = (open: OpenEngine, runs: number): void => {
  it(
    verifies('R9', 'R17', 'R19', 'R20')('any history keeps the caps, ends every row once, and never gets stuck'),
    async () => {
      await fc.assert(
        fc.asyncProperty(world, async (w) => {
          const h = await openHouse(open);
          try {
            h.limits.agent_call_limit = w.fleet;
            h.limits.max_depth = w.depth;
            if (w.credential !== null) await h.credential('k', { max_parallel: w.credential });
            for (const [i, cap] of w.caps.entries())
              await h.agent(names[i]!, { max_parallel_tasks: cap, adapter: i === 0 ? 'claude' : 'command' });
            const seen: Seen = { claims: new Map(), endings: new Map(), calls: [] };
            const room = { slots: w.depth + 1 + w.spare };
            for (const s of w.steps) {
              await act(h, s, seen, room);
              await look(h, seen, w);
            }
            await h.write('set_paused', { paused: false, by: 'x' });
            await drain(h, seen, w, room);
          } finally {
            await h.end();
          }
        }),
        { numRuns: runs },
      );
    },
  );
};

const live = async (h: House, seen: Seen, status: 'running' | 'waiting'): Promise<ClaimRow[]> => {
  const rows = await h.read('executions', { status: [status], limit: 200 });
  return rows.flatMap((r) => seen.claims.get(`${r.id} ${r.attempt}`) ?? []);
};

const claim = async (h: House, seen: Seen, max: number, room: { slots: number }) => {
  const claims = await h.claim(max, { room });
  for (const c of claims) {
    seen.claims.set(`${c.execution.id} ${c.execution.attempt}`, c);
    await h.begin(c);
  }
  return claims.length;
};

const act = async (h: House, s: Step, seen: Seen, room: { slots: number }): Promise<void> => {
  h.pass(10);
  if (s.do === 'submit' || s.do === 'chat') {
    await h.submit(names[s.agent]!, {
      kind: s.do === 'chat' ? 'chat' : 'task',
      class: s.batch ? 'batch' : 'interactive',
    });
  } else if (s.do === 'turn') {
    // A further turn of a session that is busy or was.
    const e = pick(await h.read('executions', { limit: 50, kind: 'chat' }), s.who);
    if (e) await h.ask(e.agent_name, { kind: 'chat', session_id: e.session_id });
  } else if (s.do === 'claim') await claim(h, seen, s.max, room);
  else if (s.do === 'fan') await fan(h, s, seen);
  else if (s.do === 'detach') {
    const call = pick(seen.calls, s.who);
    if (call) await h.write('detach_call', call);
  } else if (s.do === 'pause') await h.write('set_paused', { paused: s.on, by: 'x' });
  else if (s.do === 'cancel') {
    const e = pick(await h.read('executions', { limit: 50 }), s.who);
    if (e) await h.write('cancel', { execution_id: e.id, by: 'x', reason: null });
  } else if ('who' in s) {
    const running = await live(h, seen, 'running');
    // A process may end, or be lost, while its row waits.
    const c = pick(s.do === 'call' ? running : [...running, ...(await live(h, seen, 'waiting'))], s.who);
    if (!c) return;
    if (s.do === 'call') await callOut(h, c, s, seen);
    else if (s.do === 'end') {
      if (s.how === 'success') await h.settle(c);
      else if (s.how === 'failed') await h.settle(c, failed('crashed'));
      else await h.settle(c, { ...failed('overloaded'), decision: { kind: 'retry', after_ms: 50, why: 'x' } });
    } else {
      h.pass(leaseMs + 1);
      const all = [...(await live(h, seen, 'running')), ...(await live(h, seen, 'waiting'))];
      await renewAll(
        h,
        all.filter((o) => o !== c),
      );
      await h.write('reap', { lease_ms: leaseMs, grace_ms: 0, same_host: null, max: 50 });
    }
  }
};

const renewAll = async (h: House, claims: ClaimRow[]) => {
  await h.write('renew', {
    runner_id: 'r1',
    room: largeRoom,
    lease_ms: leaseMs,
    attempts: claims.map((c) => ({
      attempt: c.attempt_id,
      token: c.token,
      proof: null,
      started_at: null,
      cpu_ms: null,
      rss_bytes: null,
    })),
  });
};

/** A batch: asked for from outside, or by an execution that waits for it. */
const fan = async (h: House, s: Extract<Step, { do: 'fan' }>, seen: Seen): Promise<void> => {
  const over = { max_concurrency: s.at_once };
  if (s.who === null) return void (await h.fanOut(names[s.agent]!, s.tasks, over));
  const c = pick(await live(h, seen, 'running'), s.who);
  if (!c || c.execution.depth >= h.limits.max_depth || c.execution.cancel_requested_at !== null) return;
  if ((await h.row(c.execution.id)).cancel_requested_at !== null) return;
  const call_id = h.id();
  const caller = { execution_id: c.execution.id, token: c.token };
  await h.fanOut(names[s.agent]!, s.tasks, { ...over, caller, open_call: call_id });
  seen.calls.push({ call_id, caller_token: c.token });
};

const callOut = async (h: House, c: ClaimRow, s: Extract<Step, { do: 'call' }>, seen: Seen): Promise<void> => {
  const caller = { execution_id: c.execution.id, token: c.token };
  const ids: string[] = [];
  for (const a of s.agents) {
    const child = await h.ask(names[a]!, { kind: s.chat ? 'chat' : 'task', triggered_by: 'agent' }, { caller });
    if (!isRefusal(child)) ids.push(child.id);
  }
  if (ids.length === 0) return;
  const call_id = h.id();
  await h.write('open_call', { call_id, caller, child_ids: ids });
  seen.calls.push({ call_id, caller_token: c.token });
};

/** After every step. */
const look = async (
  h: House,
  seen: Seen,
  w: { caps: number[]; fleet: number; credential: number | null },
): Promise<void> => {
  const rows = await h.read('executions', { limit: 500 });
  const running = rows.filter((r) => r.status === 'running');
  expect(running.length).toBeLessThanOrEqual(w.fleet);
  for (const [i, cap] of w.caps.entries())
    expect(running.filter((r) => r.agent_name === names[i]).length).toBeLessThanOrEqual(cap);
  if (w.credential !== null)
    expect(running.filter((r) => r.credential_id === 'k').length).toBeLessThanOrEqual(w.credential);
  for (const r of rows) {
    const ending = isTerminal(r.status) ? `${r.status} ${r.cause} ${r.completed_at}` : null;
    const before = seen.endings.get(r.id);
    if (before !== undefined) expect(ending).toBe(before);
    else if (ending !== null) seen.endings.set(r.id, ending);
  }
  const broken = (await h.read('invariants', { limits: h.limits })).filter((i) => !i.ok);
  expect(broken).toEqual([]);
};

/** Everything that can move does: then every row must have ended. */
const drain = async (
  h: House,
  seen: Seen,
  w: { caps: number[]; fleet: number; credential: number | null },
  room: { slots: number },
): Promise<void> => {
  for (let i = 0; i < 500; i++) {
    h.pass(60);
    const claimed = await claim(h, seen, 4, room);
    await look(h, seen, w);
    const open = await h.read('executions', { status: ['queued', 'running', 'waiting'], limit: 500 });
    if (open.length === 0) return;
    const running = await live(h, seen, 'running');
    const stopping = (await live(h, seen, 'waiting')).filter((c) =>
      open.some((o) => o.id === c.execution.id && o.cancel_requested_at !== null),
    );
    const [first] = [...stopping, ...running];
    if (first) await h.settle(first);
    else if (claimed === 0) expect(open.every((o) => o.status === 'queued' && o.not_before !== null)).toBe(true);
  }
  expect(await h.read('executions', { status: ['queued', 'running', 'waiting'], limit: 9 })).toEqual([]);
};
