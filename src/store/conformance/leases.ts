/** Leases: who is silent, who is lost, who is queued again for free, and that expiry alone fences nothing (R22, R23). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { ClaimRow, WriteVerbs } from '../store.ts';
import type { OpenEngine } from './engine.ts';
import { failed, type House, leaseMs, openHouse, room } from './house.ts';

const graceMs = 900_000;
const proof = { pid: 42, start_time: 7, boot_id: 'b1' };

export const leasesConformance = (open: OpenEngine): void => {
  let h: House;
  const reap = (same_host: WriteVerbs['reap'][0]['same_host'] = null) =>
    h.write('reap', { lease_ms: leaseMs, grace_ms: graceMs, same_host, max: 500 });
  const renew = (c: ClaimRow, over: Partial<WriteVerbs['renew'][0]['attempts'][number]> = {}) =>
    h.write('renew', {
      runner_id: 'r1',
      room,
      lease_ms: leaseMs,
      attempts: [{ attempt: c.attempt_id, token: c.token, proof, started_at: null, cpu_ms: 5, rss_bytes: 6, ...over }],
    });
  beforeEach(async () => {
    h = await openHouse(open);
    await h.agent('a');
  });
  afterEach(() => h.end());

  describe('leases', () => {
    it(
      verifies('R22', 'R24')('a claim that was never begun is queued again for free, and its old token starts nothing'),
      async () => {
        const e = await h.submit('a');
        const [c] = await h.claim();
        h.pass(leaseMs);
        expect(await reap()).toEqual({ silent: [], requeued: [e.id], lost: [] });
        expect(await h.begin(c!)).toEqual({ go: false, why: 'reaped' });
        const again = await h.start();
        expect(again.execution).toMatchObject({ id: e.id, attempt: 2 });
        expect(await h.begin(c!)).toEqual({ go: false, why: 'reaped' });
        expect(await h.begin({ ...c!, token: 'x' })).toEqual({ go: false, why: 'unknown' });
      },
    );

    it(
      verifies('R22', 'R24')('a claim that was lost on its way is free as soon as its runner is heard of without it'),
      async () => {
        const rows = [];
        for (let i = 0; i < 3; i++) rows.push(await h.submit('a'));
        const [begun, known, lost] = (await h.claim(3)) as [ClaimRow, ClaimRow, ClaimRow];
        await h.begin(begun);
        const back = (over: Partial<WriteVerbs['give_back'][0]>) =>
          h.write('give_back', { runner_id: 'r1', host: 'h1', claims: { not_in: [known.attempt_id] }, ...over });
        expect(await back({ runner_id: 'r2' })).toEqual({ given_back: [] });
        expect(await back({ host: 'h2' })).toEqual({ given_back: [] });
        expect(await back({ claims: { in: [begun.attempt_id] } })).toEqual({ given_back: [] });
        expect(await back({})).toEqual({ given_back: [lost.execution.id] });
        expect(await back({})).toEqual({ given_back: [] });
        expect(await h.begin(lost)).toEqual({ go: false, why: 'reaped' });
        expect(await h.begin(known)).toEqual({ go: true, why: null });
        const [again] = await h.claim();
        expect(again!.execution).toMatchObject({ id: lost.execution.id, attempt: 2 });
        expect(rows.map((r) => r.id)).toContain(lost.execution.id);
        expect(await back({ claims: { in: [again!.attempt_id] } })).toEqual({ given_back: [lost.execution.id] });
      },
    );

    it(
      verifies('R23')('an expired lease makes a row silent: it keeps its slot, and a renewal brings it back'),
      async () => {
        await h.agent('one', { max_parallel_tasks: 1 });
        const e = await h.submit('one');
        const c = await h.start();
        await h.submit('one');
        h.pass(leaseMs);
        expect(await reap()).toEqual({ silent: [e.id], requeued: [], lost: [] });
        expect(await reap()).toEqual({ silent: [], requeued: [], lost: [] });
        expect(await h.row(e.id)).toMatchObject({ status: 'running', silent: true });
        expect(await h.claim()).toEqual([]);
        expect(await renew(c)).toEqual([{ attempt: c.attempt_id, state: 'ok', called_ms: 0 }]);
        expect(await h.row(e.id)).toMatchObject({ silent: false });
        h.pass(leaseMs - 1);
        expect(await reap()).toEqual({ silent: [], requeued: [], lost: [] });
      },
    );

    it(
      verifies('R23')('after the grace it is lost, and says so; before, a result counts as if nothing had been'),
      async () => {
        const [e, f] = [await h.submit('a'), await h.submit('a')];
        const [c, d] = [await h.start(), await h.start()];
        h.pass(leaseMs);
        await reap();
        h.pass(graceMs - 1);
        expect((await h.settle(c)).result).toBe('settled');
        expect(await reap()).toEqual({ silent: [], requeued: [], lost: [] });
        h.pass(1);
        expect((await reap()).lost).toEqual([f.id]);
        expect(await h.row(e.id)).toMatchObject({ status: 'success', silent: false });
        expect(await h.row(f.id)).toMatchObject({
          status: 'failed',
          cause: 'runner_lost',
          error: 'Its runner was lost: nothing was heard of it for 945 s.',
        });
        expect(await renew(d)).toEqual([{ attempt: d.attempt_id, state: 'lost' }]);
      },
    );

    it(
      verifies('R31')(
        'what goes on from a lost one asks for the tree it left, and from the kept one once that is known',
      ),
      async () => {
        const lost = await h.submit('a');
        const c = await h.start();
        h.pass(leaseMs + graceMs);
        expect((await reap()).lost).toEqual([lost.id]);
        const goesOn = async () => {
          await h.submit('a', { session_id: lost.session_id });
          const next = await h.start();
          await h.settle(next);
          return next.resume_ref;
        };
        expect(await goesOn()).toBe(`refs/drover/${lost.id}/left`);
        const ref = `refs/drover/${lost.id}/${c.attempt_id}`;
        const tree = { commit: 'c', files_changed: 1, insertions: 1, deletions: 0, keep_error: null };
        await h.settle(c, { facts: { workspace: { mode: 'worktree', path: '/w', ref, ...tree } } });
        expect(await goesOn()).toBe(ref);
      },
    );

    it(
      verifies('D30')('a result that comes while the reaper looks is the one ending, whichever was first'),
      async () => {
        const e = await h.submit('a');
        const c = await h.start();
        h.pass(leaseMs + graceMs);
        await reap();
        const before = await h.row(e.id);
        expect((await h.settle(c, { cost_usd: 2, cost_kind: 'billed' })).result).toBe('late');
        expect(await h.row(e.id)).toEqual({ ...before, cost_usd: 2, cost_kind: 'billed' });
        const { events } = await h.read('events_after', { after: 0, limit: 100 });
        expect(events.filter((x) => x.execution_id === e.id).map((x) => x.type)).toEqual([
          'execution.queued',
          'execution.claimed',
          'execution.settled',
          'operator.opened',
          'execution.late_outcome',
        ]);
        expect((await h.settle(c)).result).toBe('replayed');
      },
    );

    it(
      verifies('R23')('death is proven by another boot or a missing process of the same host, never without a pid'),
      async () => {
        const rows = [];
        for (let i = 0; i < 3; i++) rows.push(await h.submit('a'));
        const [gone, alive, unborn] = [await h.start(), await h.start(), await h.start()];
        await renew(gone!);
        await renew(alive!);
        h.pass(leaseMs);
        const host = { host: 'h1', boot_id: 'b1', alive: [alive!.attempt_id] };
        expect(await reap({ ...host, host: 'elsewhere' })).toMatchObject({ lost: [] });
        expect(await reap(host)).toMatchObject({ lost: [rows[0]!.id] });
        expect(await h.row(rows[0]!.id)).toMatchObject({
          error: 'Its runner was lost: process 42 is gone and told no ending.',
        });
        expect(await h.status(unborn!.execution.id)).toBe('running');
        expect(await reap({ ...host, boot_id: 'b2' })).toMatchObject({ lost: [rows[1]!.id] });
        expect(await h.read('expired_leases', { steady: h.now() })).toMatchObject([
          { attempt_id: unborn!.attempt_id, proof: null },
        ]);
      },
    );

    it(verifies('R23')('a starting server gives every lease a whole term anew'), async () => {
      const e = await h.submit('a');
      const c = await h.start();
      h.pass(leaseMs + graceMs);
      expect(await h.write('adopt_leases', { lease_ms: leaseMs })).toEqual({ adopted: 1 });
      expect(await reap()).toEqual({ silent: [], requeued: [], lost: [] });
      expect((await h.settle(c)).result).toBe('settled');
      expect(await h.status(e.id)).toBe('success');
    });

    it('keeps the spawn time it was told first, and says once that it started', async () => {
      const e = await h.submit('a');
      const c = await h.start();
      await renew(c, { started_at: 111 });
      await renew(c, { started_at: 222 });
      expect(await h.row(e.id)).toMatchObject({ started_at: 111 });
      const { events } = await h.read('events_after', { after: 0, limit: 100 });
      expect(events.filter((x) => x.type === 'execution.started')).toHaveLength(1);
    });

    it(
      verifies('D35')('rows of 40 days ago and one that cannot be healed: all others are, and no duration is invented'),
      async () => {
        const rows = [];
        for (let i = 0; i < 3; i++) rows.push(await h.submit('a'));
        const claims = [await h.start(), await h.start(), await h.start()];
        await h.engine.breakRow(rows[1]!.id);
        h.pass(40 * 86_400_000);
        h.jump(-3_600_000);
        expect((await reap()).lost).toEqual([rows[0]!.id, rows[2]!.id]);
        expect(await h.row(rows[0]!.id)).toMatchObject({ duration_ms: null, status: 'failed' });
        expect(claims).toHaveLength(3);
        for (const facts of [
          { spawned_at: 100, ended_at: 50 },
          { spawned_at: 0, ended_at: 25 * 86_400_000 },
          { run_ms: -1, spawned_at: 1, ended_at: 2 },
          { spawned_at: 5, ended_at: null },
        ]) {
          await h.submit('a');
          const c = await h.start();
          await h.settle(c, { facts, ...failed('crashed') });
          expect((await h.row(c.execution.id)).duration_ms).toBeNull();
        }
      },
    );
  });
};
