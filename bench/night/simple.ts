/**
 * The same night under simple policies, as schedulers of agents often have them: a login that fails goes on a skip list for two
 * hours, a failed run is tried again at once (twice), nothing is paused, the host is not looked at, and the runs are children of
 * the server. A model of its own of some sixty lines, not a product: what it shows is what these policies do to a night.
 */
import { type Fate, fateOf, type Night, type Outcome, type Work } from './plan.ts';

const skipMs = 2 * 3_600_000;
const retries = 2;

interface Run {
  work: Work;
  credential: string | null;
  endsAt: number;
  fate: Fate;
  startedAt: number;
}

export const simpleNight = (night: Night): Outcome => {
  const out: Outcome = {
    policy: 'simple',
    submitted: night.works.length,
    good: 0,
    failed: 0,
    left: 0,
    spawns: 0,
    wastedSpawns: 0,
    cost: 0,
    wastedCost: 0,
    items: 0,
    lastGoodAt: 0,
    byCause: {},
  };
  const queue: Work[] = [];
  const tries = new Map<number, number>();
  const skipped = new Map<string, number>();
  let live: Run[] = [];
  let next = 0;
  let restarted = false;
  let downUntil = 0;

  const failed = (run: Run, why: string, cost: number) => {
    out.wastedSpawns++;
    out.wastedCost += cost;
    // Each failure calls a person: nothing says that they are one trouble.
    out.items++;
    if (['limit', 'rejected', 'overloaded'].includes(why) && run.credential !== null)
      skipped.set(run.credential, run.endsAt + skipMs);
    const tried = (tries.get(run.work.n) ?? 0) + 1;
    tries.set(run.work.n, tried);
    if (tried <= retries) queue.unshift(run.work);
    else {
      out.failed++;
      out.byCause[why] = (out.byCause[why] ?? 0) + 1;
    }
  };
  const loginFor = (agent: string, now: number): string | null | 'none' => {
    const { pool } = night.agents.find((a) => a.name === agent)!;
    return night.credentials.find((c) => c.pool === pool && (skipped.get(c.id) ?? 0) <= now)?.id ?? 'none';
  };

  const stepMs = 1_000;
  for (let now = 0; now < night.length; now += stepMs) {
    while (next < night.works.length && night.works[next]!.at <= now) queue.push(night.works[next++]!);
    for (const run of live.filter((r) => r.endsAt <= now)) {
      live = live.filter((r) => r !== run);
      out.cost += run.fate.cost;
      if (run.fate.how === 'good') {
        out.good++;
        out.lastGoodAt = now;
      } else failed(run, run.fate.how, run.fate.cost);
    }
    if (!restarted && now >= night.restart.after && live.length >= night.restart.live) {
      restarted = true;
      downUntil = now + night.restart.downMs;
      for (const run of live) {
        const cost = (run.fate.cost * (now - run.startedAt)) / Math.max(1, run.fate.ranMs);
        out.cost += cost;
        failed({ ...run, endsAt: now }, 'server_restart', cost);
      }
      live = [];
    }
    if (now < downUntil) continue;
    for (let i = 0; i < queue.length && live.length < night.fleetCap; ) {
      const work = queue[i]!;
      const credential = loginFor(work.agent, now);
      if (credential === 'none' || live.filter((r) => r.work.agent === work.agent).length >= night.agentCap) {
        i++;
        continue;
      }
      queue.splice(i, 1);
      out.spawns++;
      const fate = fateOf(night, work, now, credential);
      live.push({ work, credential, fate, startedAt: now, endsAt: now + fate.ranMs });
    }
  }
  out.left = queue.length + live.length + (night.works.length - next);
  return out;
};
