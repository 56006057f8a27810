/**
 * What time alone brings about: queue budgets that run out, leases that expire, waits worth a warning, the kept clock, old
 * rows. Each sweep is a verb that heals every row alone; a sweep that fails is logged and runs again at its next turn.
 */
import { limits } from '../contract/limits.ts';
import type { Deps } from '../flow/deps.ts';
import { commit } from '../record/commit.ts';
import { watchForRunners } from './no-runner.ts';

/** Budgets are looked at when the next one ends and at least this often: a lowered setting must not sleep. */
const budgetMs = 1_000;
const reapMs = 5_000;
const warnMs = 1_000;
const runnersMs = 5_000;
const keepClockMs = 10_000;
const retainMs = 600_000;

export interface Sweeps {
  stop(): Promise<void>;
}

/** `host`: set where server and runner share a host, so that a dead process is proven at once instead of after the grace. */
export const startSweeps = (
  deps: Deps,
  host: {
    name: string;
    bootId: string;
    alive(proof: { pid: number; start_time: number; boot_id: string }): boolean;
  } | null,
): Sweeps => {
  const { clock, log } = deps.kernel;
  const running = new Set<Promise<void>>();
  const cancels = new Map<string, () => void>();
  let stopped = false;

  const every = (name: string, run: () => Promise<number>) => {
    const turn = () => {
      const work: Promise<void> = run()
        .catch((error) => {
          log.error(`sweep ${name} failed; it runs again`, { error });
          return warnMs;
        })
        .then((nextMs) => {
          running.delete(work);
          if (!stopped) cancels.set(name, clock.after(nextMs, turn));
        });
      running.add(work);
    };
    turn();
  };

  every('queue budgets', async () => {
    const { expired, next_expiry } = await commit(deps, 'expire_budgets', { limits: deps.claimLimits(), max: 500 });
    if (expired.length === 500) return 0;
    return next_expiry === null ? budgetMs : Math.min(budgetMs, Math.max(1, next_expiry - clock.steady()));
  });

  every('leases', async () => {
    const expiredLeases = await deps.store.read('expired_leases', { steady: clock.steady() });
    if (expiredLeases.length === 0) return reapMs;
    const ours = host && {
      host: host.name,
      boot_id: host.bootId,
      alive: expiredLeases.filter((l) => l.proof !== null && host.alive(l.proof)).map((l) => l.attempt_id),
    };
    const done = await commit(deps, 'reap', {
      lease_ms: limits.leaseMs,
      grace_ms: deps.config.runnerGraceS * 1000,
      same_host: ours,
      max: 500,
    });
    if (done.lost.length > 0) log.warn('runners were lost', { executions: done.lost });
    return reapMs;
  });

  const warned = new Set<string>();
  every('long waits', async () => {
    const waits = await deps.store.read('long_waits', {
      older_than: clock.steady() - limits.waitWarningMs,
      limits: deps.claimLimits(),
      limit: 1000,
    });
    const perAgent = new Map<string, typeof waits>();
    for (const w of waits)
      if (!warned.has(w.execution_id)) perAgent.set(w.agent_name, [...(perAgent.get(w.agent_name) ?? []), w]);
    for (const [agent, rows] of perAgent) {
      log.warn('executions wait', {
        agent,
        count: rows.length,
        reason: rows[0]!.reason,
        waited_ms: rows[0]!.waited_ms,
        first: rows[0]!.execution_id,
      });
      for (const r of rows) warned.add(r.execution_id);
    }
    const still = new Set(waits.map((w) => w.execution_id));
    for (const id of warned) if (!still.has(id)) warned.delete(id);
    return warnMs;
  });

  const lookForRunners = watchForRunners(deps);
  every('runners', async () => {
    await lookForRunners();
    return runnersMs;
  });

  every('clock', async () => {
    await commit(deps, 'keep_clock', { steady: clock.steady() });
    return keepClockMs;
  });

  every('retention', async () => {
    const before = clock.now() - deps.config.retentionDays * 86_400_000;
    const { more } = await commit(deps, 'retain', {
      events_before: before,
      executions_before: before,
      max: 500,
    });
    return more ? warnMs : retainMs;
  });

  return {
    async stop() {
      stopped = true;
      for (const cancel of cancels.values()) cancel();
      await Promise.all(running);
    },
  };
};
