/**
 * Time → ticks: looks when the next schedule is due, and whenever one was changed. Each tick is stored once, whoever else looks
 * (another server, this one after a kill): the store moves a schedule on with the tick, by compare-and-set. A tick that is
 * refused (agent stopped, backlog full) is born `skipped`, with the refusal in words. Knows no cron: due.ts does.
 */
import { isRefusal } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import { type ScheduleRow, schedulesPausedKey } from '../contract/schedule.ts';
import type { Deps } from '../flow/deps.ts';
import { createErrand } from '../kernel/errand.ts';
import { commit } from '../record/commit.ts';
import type { Stirred } from '../store/store.ts';
import { type PlannedTick, type Point, planTicks } from './due.ts';
import { submitTick } from './run-schedule.ts';

interface Ticker {
  /** Also makes up for what was missed. */
  start(): void;
  stir(stirred: Pick<Stirred, 'schedules_changed'>): void;
  stop(): Promise<void>;
}

/** At least this often: the wall clock may have jumped, and timers do not follow it. */
const lookMs = 30_000;
const atOnce = 100;

export const createTicker = (deps: Deps): Ticker => {
  const { clock } = deps.kernel;
  const errand = createErrand(deps.kernel, 'starting what is due', async () => {
    const { due, next } = await deps.store.read('due_schedules', { now: clock.now(), limit: atOnce });
    if (due.length > 0) {
      const paused = (await deps.store.read('setting', { key: schedulesPausedKey }))?.value === '1';
      for (const schedule of due) await takeTicks(deps, schedule, paused);
      return 0;
    }
    return next === null ? lookMs : Math.min(lookMs, Math.max(1, next - clock.now()));
  });
  let started = false;
  return {
    start() {
      started = true;
      errand.wake();
    },
    stir(stirred) {
      if (started && stirred.schedules_changed) errand.wake();
    },
    stop: () => errand.stop(),
  };
};

/** All that is due of one schedule, in order. Ends early when somebody else moved it: the next look sees where it stands. */
const takeTicks = async (deps: Deps, s: ScheduleRow, paused: boolean): Promise<void> => {
  const { ticks, next, dropped } = planTicks(s, deps.kernel.clock.now(), paused);
  if (dropped)
    deps.kernel.log.warn('a schedule missed more ticks than are recorded; the oldest have no row', {
      schedule: s.name,
      agent: s.agent_name,
      recorded: ticks.length,
    });
  let expected = s.next_fire_at!;
  for (let i = 0; i < ticks.length; ) {
    const skipped = firstSkipped(ticks.slice(i));
    const upTo = i + Math.max(1, skipped.length);
    const place = { expected, next: ticks[upTo] ?? next };
    const moved = skipped.length > 0 ? await skip(deps, s, skipped, place) : await run(deps, s, ticks[i]!, place);
    if (!moved) return;
    expected = place.next?.fire_at ?? Number.NaN;
    i = upTo;
  }
  // Nothing is due yet after all: its jitter was changed. Its due time is set anew, or this look would come again at once.
  if (ticks.length === 0) await skip(deps, s, [], { expected, next });
};

interface Place {
  expected: number;
  next: Point | null;
}

const firstSkipped = (ticks: readonly PlannedTick[]): PlannedTick[] => {
  const end = ticks.findIndex((t) => t.skip === null);
  return end === -1 ? [...ticks] : ticks.slice(0, end);
};

const run = async (deps: Deps, s: ScheduleRow, tick: PlannedTick, place: Place): Promise<boolean> => {
  const taken = await submitTick(deps, s, tick, place);
  if (!isRefusal(taken)) return true;
  if (taken.code === 'conflict') return false;
  return skip(deps, s, [{ ...tick, skip: `Skipped: ${taken.message}` }], place);
};

const skip = async (deps: Deps, s: ScheduleRow, ticks: readonly PlannedTick[], place: Place): Promise<boolean> => {
  const { clock, ids } = deps.kernel;
  const { moved } = await commit(deps, 'skip_ticks', {
    schedule_id: s.id,
    expected: place.expected,
    next: place.next,
    timeout_s: s.timeout_s ?? limits.timeoutS.default,
    ticks: ticks.map((t) => ({ fire_at: t.fire_at, execution_id: ids.next(clock.now()), reason: t.skip ?? '' })),
  });
  return moved;
};
